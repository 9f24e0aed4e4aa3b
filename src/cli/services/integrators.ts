import { Integrator } from '../../../entities/integrator.entity.ts';
import { newId } from '../../shared/ids.ts';
import { deepLinkScheme, oneLine } from './checks.ts';
import { inTransaction, type Place } from './command-context.ts';

export interface NewIntegrator {
  name: string;
  /** Schemes of `sourceDeepLink` beyond `https`. */
  deepLinkSchemes: string[];
}

/** Registers an approved application vendor. */
export async function createIntegrator(place: Place, request: NewIntegrator) {
  const name = oneLine('--name', request.name);
  const deepLinkSchemes = [...new Set(request.deepLinkSchemes.map(deepLinkScheme))];
  return inTransaction(place, async (em, now) => {
    const id = newId('integrator', place.clock.now());
    await em.insert(Integrator, { id, name, deepLinkSchemes, createdAt: now, updatedAt: now });
    return { integratorId: id, name, deepLinkSchemes, createdAt: now };
  });
}
