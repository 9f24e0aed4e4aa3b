import { Integrator } from '../../../entities/integrator.entity.ts';
import { newId } from '../../shared/ids.ts';
import { type ChangeContext, inTransaction, lockRow } from '../change-context.ts';
import { requireUnchanged } from '../edit-conflicts.ts';
import { parseDeepLinkScheme, parseId, requireSingleLine } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';

interface NewIntegrator {
  name: string;
  /** Schemes of `sourceDeepLink` other than `https`. */
  deepLinkSchemes: string[];
}

/** Registers an approved application vendor. */
export async function createIntegrator(context: ChangeContext, request: NewIntegrator) {
  const valid = validate(request);
  return inTransaction(context, async (em, now, record) => {
    const id = newId('integrator', context.clock.now());
    await em.insert(Integrator, { id, ...valid, createdAt: now, updatedAt: now });
    await record({ action: 'integrator.created', objectId: id, integratorId: id, after: valid });
    return { integratorId: id, ...valid, createdAt: now };
  });
}

/** Replaces properties of an integrator; absent ones are kept. */
export async function updateIntegrator(context: ChangeContext, id: string, update: Partial<NewIntegrator>) {
  parseId('integratorId', 'integrator', id);
  return inTransaction(context, async (em, now, record) => {
    const integrator = await lockRow(em, Integrator, { id });
    if (!integrator)
      throw new InvalidInputError('integratorId', `there is no integrator ${id} in ${context.database.region}`);
    await requireUnchanged(context, em, integrator, id);
    const before = { name: integrator.name, deepLinkSchemes: integrator.deepLinkSchemes };
    const after = validate({
      name: update.name ?? before.name,
      deepLinkSchemes: update.deepLinkSchemes ?? before.deepLinkSchemes,
    });
    const changed = JSON.stringify(before) !== JSON.stringify(after);
    if (changed) {
      Object.assign(integrator, after, { updatedAt: now });
      await record({ action: 'integrator.updated', objectId: id, integratorId: id, before, after });
    }
    return { integratorId: id, ...after, changed };
  });
}

const validate = ({ name, deepLinkSchemes }: NewIntegrator): NewIntegrator => ({
  name: requireSingleLine('name', name),
  deepLinkSchemes: [...new Set(deepLinkSchemes.map(parseDeepLinkScheme))],
});
