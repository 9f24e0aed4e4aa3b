export { type Client, type ClientOptions, createClient } from './client.ts';
export * from './errors.ts';
export type { Event, FollowedEvents, FollowOptions } from './events.ts';
export type { components, operations, paths } from './generated/openapi.ts';
export type { Pages } from './operations.ts';
export type { ImageSource, UploadAllOptions, UploadOptions, UploadResult } from './photos.ts';
export { type Snapshot, SnapshotError, type SnapshotRecord } from './snapshots.ts';
export { MemoryStore, type SyncedRecord, type SyncStore } from './sync.ts';
export {
  type ClientCredentials,
  SignInRequiredError,
  type StoredTokens,
  type TokenStore,
  type UserCredentials,
} from './tokens.ts';
export type { CallOptions } from './transport.ts';
export * from './webhooks.ts';
