import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { EntityClass } from '@mikro-orm/core';
import { Builder } from '../../../entities/builder.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { inspectImage } from '../../images/inspect.ts';
import { BadImage } from '../../images/types.ts';
import { finalKey, type ObjectKind } from '../../storage/keys.ts';
import { MAX_ATTACHMENT_BYTES, type Storage } from '../../storage/storage.ts';
import { refuse } from '../cli-error.ts';
import { identifier } from './checks.ts';
import { inTransaction, lockRow, type Place } from './command-context.ts';
import { whereUser } from './users.ts';

/** Types that every browser shows. */
const SHOWN = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'];

/** Makes the image in the file the builder's logo. */
export async function setBuilderLogo(place: Place, storage: Storage, request: { builder: string; file: string }) {
  const id = identifier('BUILDER', 'builder', request.builder);
  const { database } = place;
  if (!(await database.fork().count(Builder, { id })))
    refuse('BUILDER', `there is no builder ${id} in ${database.region}`);
  const { key, contentType } = await keepPicture(storage, 'logos', id, request.file);
  await inTransaction(place, async (em, now) => {
    const builder = await lockRow(em, Builder as EntityClass<Builder>, { id });
    Object.assign(builder!, { logoKey: key, updatedAt: now });
  });
  return { builderId: id, contentType, logoKey: key };
}

/** Makes the image in the file the user's picture. */
export async function setUserPicture(place: Place, storage: Storage, request: { user: string; file: string }) {
  const where = whereUser('USER', request.user);
  const { database } = place;
  const found = await database.fork().findOne(User, where);
  if (!found) return refuse('USER', `there is no user ${request.user} in ${database.region}`);
  const { key, contentType } = await keepPicture(storage, 'pictures', found.id, request.file);
  await inTransaction(place, async (em, now) => {
    const user = await lockRow(em, User as EntityClass<User>, { id: found.id });
    Object.assign(user!, { pictureKey: key, updatedAt: now });
  });
  return { userId: found.id, email: found.email, contentType, pictureKey: key };
}

/** The bytes come first; those of the picture before are swept. */
async function keepPicture(storage: Storage, kind: ObjectKind, owner: string, file: string) {
  const { size } = await stat(file);
  if (size > MAX_ATTACHMENT_BYTES) refuse('FILE', `${file} has more than ${MAX_ATTACHMENT_BYTES} bytes`);
  const { contentType } = await inspectImage(file, size).catch((error: Error) => {
    if (error instanceof BadImage) return refuse('FILE', `${file} ${error.message}`);
    throw error;
  });
  if (!SHOWN.includes(contentType)) refuse('FILE', `${file} is ${contentType}; use one of ${SHOWN.join(', ')}`);
  const key = finalKey(kind, owner, contentType);
  await storage.keep(key, createReadStream(file), contentType, MAX_ATTACHMENT_BYTES);
  return { key, contentType };
}
