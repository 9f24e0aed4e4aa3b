import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { EntityClass } from '@mikro-orm/core';
import { Builder } from '../../../entities/builder.entity.ts';
import { lockUser, requireUser } from '../../domain/access/users.ts';
import {
  type ChangeContext,
  changeRow,
  inTransaction,
  lockRequiredRow,
  requireRow,
} from '../../domain/change-context.ts';
import { inspectImage } from '../../images/inspect.ts';
import { BadImage } from '../../images/types.ts';
import { createObjectKey, type ObjectFolder } from '../../storage/keys.ts';
import { MAX_ATTACHMENT_BYTES, type Storage } from '../../storage/storage.ts';
import { CliError } from '../cli-error.ts';

/** Content types that every browser displays. */
const DISPLAYABLE_TYPES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif'];

/** Stores the image file as the builder's logo. */
export async function setBuilderLogo(
  context: ChangeContext,
  storage: Storage,
  request: { builder: string; file: string },
) {
  const { builder: id } = request;
  await requireRow(context, context.database.fork(), Builder, 'builder', id, { field: 'builder' });
  const { key, contentType } = await storeImage(storage, 'logos', id, request.file);
  await inTransaction(context, async (em, now, record) => {
    const builder = await lockRequiredRow(context, em, Builder as EntityClass<Builder>, 'builder', id);
    const change = { action: 'builder.updated' as const, objectId: id, builderId: id };
    await changeRow(builder, { logoKey: key }, now, record, change);
  });
  return { builderId: id, contentType, logoKey: key };
}

/** Stores the image file as the user's profile picture. */
export async function setUserPicture(
  context: ChangeContext,
  storage: Storage,
  request: { user: string; file: string },
) {
  const { id, email } = await requireUser(context, context.database.fork(), request.user);
  const { key, contentType } = await storeImage(storage, 'pictures', id, request.file);
  await inTransaction(context, async (em, now, record) => {
    const user = await lockUser(context, em, id);
    const action = user.staffRole === null ? 'user.updated' : 'staff.updated';
    await changeRow(user, { pictureKey: key }, now, record, { action, objectId: id, personId: id });
  });
  return { userId: id, email, contentType, pictureKey: key };
}

/** Stores the bytes before the row refers to them. The upload sweep deletes those of the previous image. */
async function storeImage(storage: Storage, kind: ObjectFolder, owner: string, file: string) {
  const { size } = await stat(file);
  if (size > MAX_ATTACHMENT_BYTES)
    throw CliError.forOption('FILE', `${file} has more than ${MAX_ATTACHMENT_BYTES} bytes`);
  const { contentType } = await inspectImage(file, size).catch((error: Error) => {
    if (error instanceof BadImage) throw CliError.forOption('FILE', `${file} ${error.message}`);
    throw error;
  });
  if (!DISPLAYABLE_TYPES.includes(contentType))
    throw CliError.forOption('FILE', `${file} is ${contentType}; use one of ${DISPLAYABLE_TYPES.join(', ')}`);
  const key = createObjectKey(kind, owner, contentType);
  await storage.store(key, createReadStream(file), contentType, MAX_ATTACHMENT_BYTES);
  return { key, contentType };
}
