import { Membership } from '../../../entities/membership.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { equal } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';

export const users = new Reader(User, { exclude: ['passwordHash'] });

export const memberships = new Reader(Membership, { filters: equal('userId') });
