import { Membership } from '../../entities/membership.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { baseDay, STORY_DAYS } from './dates.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { FIRST_NAMES, LAST_NAMES, ROLES } from './words/people.ts';
import type { Locale } from './words/places.ts';

const STAFF = 6;
const PROFILES = 40;
const ADMINS = 4;

export const nameOf = (random: Random) => `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;

export const emailOf = (name: string, domain: string) => `${name.toLowerCase().replaceAll(' ', '.')}@${domain}`;

export const phoneOf = (random: Random, { phones }: Locale) =>
  random.pick(phones).replaceAll('#', () => random.digits(1));

/** People of the builder's office, who have no password yet. Those who sign in to the demo are added with the clients. */
export function addStaff(scene: Scene): User[] {
  const { rows, builderId, domain } = scene;
  const random = scene.random('staff');
  const at = baseDay(-STORY_DAYS);
  const dates = { createdAt: at, updatedAt: at };
  return ROLES.slice(0, STAFF).map((role, index) => {
    // An address is unique in the region: the names of one builder's staff begin with different letters.
    const name = `${random.pick(FIRST_NAMES.filter((first) => first.charCodeAt(0) % STAFF === index))} ${random.pick(LAST_NAMES)}`;
    const id = random.id('user', at);
    const email = emailOf(name, domain);
    const user = rows.add(User, { id, ...dates, name, email, passwordHash: null, pictureKey: null, disabledAt: null });
    rows.add(Membership, { ...dates, userId: id, builderId, role });
    return user;
  });
}

/** The people who hand in timesheets. */
export function addProfiles({ rows, builderId, random: streamOf }: Scene): void {
  const random = streamOf('profiles');
  const at = baseDay(-STORY_DAYS);
  for (let index = 0; index < PROFILES; index++) {
    const type = index < ADMINS ? 'admin' : 'worker';
    rows.add(Profile, { id: random.id('profile', at), builderId, fullName: nameOf(random), type });
  }
}
