import type { Page } from '../../schema/page.ts';
import type { Scope } from '../../schema/scopes.ts';
import { requireVisible } from '../../src/auth/authorization.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { subcontractorOwners } from '../../src/domain/readers/subcontractor.reader.ts';
import { notFound } from '../../src/shared/errors.ts';

interface BuilderRecord {
  builderId: string;
}

/*
 * Paths of a subcontractor's records have no builder id, so the records are read before access is checked: each row has its builder,
 * and only a response without rows needs a query of the subcontractor. The readers return no rows of an archived subcontractor.
 */

/** Returns the page of records of a subcontractor. Throws 404 if the caller may not see it, and 403 without the scope. */
export async function authorizeSubcontractorPage<T extends BuilderRecord>(
  context: RequestContext,
  subcontractorId: string,
  scope: Scope,
  page: Page<T>,
): Promise<Page<T>> {
  const record = page.data[0] ?? (await subcontractorOwners.findOne(context.database, subcontractorId));
  requireVisible(context, record, scope, 'Subcontractor');
  return page;
}

/** Returns the record of a subcontractor. Throws 404 if there is none or the caller may not see it, and 403 without the scope. */
export async function authorizeSubcontractorRecord<T extends BuilderRecord>(
  context: RequestContext,
  subcontractorId: string,
  scope: Scope,
  record: T | null,
  type: string,
): Promise<T> {
  if (record) return requireVisible(context, record, scope, type);
  const owner = await subcontractorOwners.findOne(context.database, subcontractorId);
  requireVisible(context, owner, scope, 'Subcontractor');
  throw notFound(type);
}
