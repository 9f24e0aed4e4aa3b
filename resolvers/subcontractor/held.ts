import type { Page } from '../../schema/page.ts';
import type { Scope } from '../../schema/scopes.ts';
import { requireVisible } from '../../src/auth/authorization.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { owners } from '../../src/domain/readers/subcontractor.reader.ts';
import { notFound } from '../../src/shared/errors.ts';

interface Owned {
  builderId: string;
}

/*
 * What a subcontractor holds has no builder in its path, and is read before the subcontractor is: a row tells its builder, so
 * that only an answer without rows needs the subcontractor itself to tell what the caller may know. The readers give no rows of
 * an archived subcontractor.
 */

/** A page of what the subcontractor holds, if the caller may see it: else 404, or 403 without the scope. */
export async function heldPage<T extends Owned>(
  context: RequestContext,
  subcontractorId: string,
  scope: Scope,
  page: Page<T>,
): Promise<Page<T>> {
  requireVisible(context, page.data[0] ?? (await ownerOf(context, subcontractorId)), scope, 'Subcontractor');
  return page;
}

/** One record that the subcontractor holds, if there is one and the caller may see it. */
export async function heldRecord<T extends Owned>(
  context: RequestContext,
  subcontractorId: string,
  scope: Scope,
  record: T | null,
  what: string,
): Promise<T> {
  if (record) return requireVisible(context, record, scope, what);
  requireVisible(context, await ownerOf(context, subcontractorId), scope, 'Subcontractor');
  throw notFound(what);
}

function ownerOf({ database }: RequestContext, subcontractorId: string): Promise<Owned | null> {
  return owners.findOne(database, subcontractorId);
}
