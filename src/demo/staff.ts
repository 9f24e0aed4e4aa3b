import { Membership } from '../../entities/membership.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { HISTORY_DAYS, toBaseDay } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { Random } from './random.ts';
import type { Locale } from './words.ts';
import { FIRST_NAMES, LAST_NAMES, ROLES } from './words.ts';

const STAFF = 6;
const PROFILES = 40;
const ADMINS = 4;

export const pickName = (random: Random) => `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;

export const toEmail = (name: string, domain: string) => `${name.toLowerCase().replaceAll(' ', '.')}@${domain}`;

export const pickPhone = (random: Random, { phones }: Locale) =>
  random.pick(phones).replaceAll('#', () => random.digits(1));

/** Adds the builder's staff, who cannot sign in. Users who can are added with the clients. */
export function addStaff(context: GeneratorContext): User[] {
  const { rows, builderId, domain } = context;
  const random = context.random('staff');
  const at = toBaseDay(-HISTORY_DAYS);
  const dates = { createdAt: at, updatedAt: at };
  return ROLES.slice(0, STAFF).map((role, index) => {
    // E-mail addresses are unique in a region, so first names of one builder's staff start with different letters.
    const name = `${random.pick(FIRST_NAMES.filter((first) => first.charCodeAt(0) % STAFF === index))} ${random.pick(LAST_NAMES)}`;
    const id = random.id('user', at);
    const email = toEmail(name, domain);
    const user = rows.add(User, { id, ...dates, name, email });
    rows.add(Membership, { ...dates, userId: id, builderId, role });
    return user;
  });
}

/** Adds the profiles that timesheets belong to. */
export function addProfiles({ rows, builderId, random: createRandom }: GeneratorContext): void {
  const random = createRandom('profiles');
  const at = toBaseDay(-HISTORY_DAYS);
  for (let index = 0; index < PROFILES; index++) {
    const type = index < ADMINS ? 'admin' : 'worker';
    rows.add(Profile, { id: random.id('profile', at), builderId, fullName: pickName(random), type });
  }
}
