import { Integrator } from '../../../entities/integrator.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { type ChangeContext, changeRow, inTransaction, lockRequiredRow } from '../change-context.ts';
import { parseDeepLinkScheme, requireSingleLine } from './access-values.ts';

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
export const updateIntegrator = (context: ChangeContext, id: string, update: Partial<NewIntegrator>) =>
  inTransaction(context, async (em, now, record) => {
    const integrator = await lockRequiredRow(context, em, Integrator, 'integrator', id);
    const { name = integrator.name, deepLinkSchemes = integrator.deepLinkSchemes } = update;
    const after = validate({ name, deepLinkSchemes });
    const change = { action: 'integrator.updated' as const, objectId: id, integratorId: id };
    const changed = await changeRow(integrator, after, now, record, change);
    return { integratorId: id, ...after, changed };
  });

const validate = ({ name, deepLinkSchemes }: NewIntegrator): NewIntegrator => ({
  name: requireSingleLine('name', name),
  deepLinkSchemes: [...new Set(deepLinkSchemes.map(parseDeepLinkScheme))],
});
