import { canonicalJson, createFingerprint } from '../../shared/canonical-json.ts';
import { type PageTree, toPageTree } from './page-tree.ts';
import { createFingerprintInSlices, type PreparedPage } from './prepared-page.ts';
import type { SyncPhotoReportInput } from './report-inputs.ts';

/** Content of a request as it is compared and stored (PRP-2). */
export interface Snapshot {
  title: string;
  tree: PageTree;
  fingerprint: string;
  /** Binary jsonb: the version of the format, then the bytes of the fingerprint. */
  jsonb: Buffer;
}

/** Version of the binary format of jsonb. */
const JSONB_VERSION = '\u0001';

/** Creates the snapshot of a request. */
export function createSnapshot({ sourceRevision: _, ...content }: SyncPhotoReportInput): Snapshot {
  const jsonb = Buffer.from(`${JSONB_VERSION}${canonicalJson(content)}`);
  const { page } = content;
  return { title: page.title, tree: toPageTree(page), fingerprint: createFingerprint(jsonb.subarray(1)), jsonb };
}

/** Creates the snapshot of a request whose page a worker thread has serialised: inserts it between the other fields, in order. */
export async function createPreparedSnapshot(
  { sourceRevision: _, page: __, ...rest }: SyncPhotoReportInput,
  prepared: PreparedPage,
): Promise<Snapshot> {
  const serialiseFields = (isWanted: (name: string) => boolean) =>
    canonicalJson(Object.fromEntries(Object.entries(rest).filter(([name]) => isWanted(name)))).slice(1, -1);
  const before = serialiseFields((name) => name < 'page');
  const after = serialiseFields((name) => name > 'page');
  const jsonb = prepared.embed(`${JSONB_VERSION}{${before && `${before},`}"page":`, `${after && `,${after}`}}`);
  const { title, tree } = prepared;
  return { title, tree, fingerprint: await createFingerprintInSlices(jsonb.subarray(1)), jsonb };
}
