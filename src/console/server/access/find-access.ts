import { findClients, findIntegrators } from '../../../domain/access/access-of-parents.ts';
import { showClient, showIntegrator } from '../../../domain/access/list-access.ts';
import type { ConsoleContext } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';

/** Returns an integrator as the schema shows it. */
export const toIntegrator = <T extends { integratorId: string }>(integrator: T) => ({
  ...integrator,
  id: integrator.integratorId,
});

/** Returns a client as the schema shows it. */
export const toClient = <T extends { clientId: string; type: string }>(client: T) => ({
  ...client,
  id: client.clientId,
  type: client.type.toUpperCase(),
});

export const findIntegrator = async (context: ConsoleContext, id: string) =>
  toIntegrator(await showIntegrator(context, id));

export const findClient = async (context: ConsoleContext, id: string) => toClient(await showClient(context, id));

/** Returns the integrator that a row of a list refers to. */
export const loadIntegrator = async (context: ConsoleContext, id: string) =>
  toIntegrator((await loadBatched(context, 'integrators', id, findIntegrators))!);

/** Returns the client that a row of a list refers to. */
export const loadClient = async (context: ConsoleContext, id: string) =>
  toClient((await loadBatched(context, 'clients by id', id, findClients))!);
