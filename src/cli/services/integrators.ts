import { Integrator } from '../../../entities/integrator.entity.ts';
import { newId } from '../../shared/ids.ts';
import { parseDeepLinkScheme, requireSingleLine } from './argument-parsers.ts';
import { type CommandContext, inTransaction } from './command-context.ts';

export interface NewIntegrator {
  name: string;
  /** Schemes of `sourceDeepLink` other than `https`. */
  deepLinkSchemes: string[];
}

/** Registers an approved application vendor. */
export async function createIntegrator(context: CommandContext, request: NewIntegrator) {
  const name = requireSingleLine('--name', request.name);
  const deepLinkSchemes = [...new Set(request.deepLinkSchemes.map(parseDeepLinkScheme))];
  return inTransaction(context, async (em, now) => {
    const id = newId('integrator', context.clock.now());
    await em.insert(Integrator, { id, name, deepLinkSchemes, createdAt: now, updatedAt: now });
    return { integratorId: id, name, deepLinkSchemes, createdAt: now };
  });
}
