import { findClients, findIntegrators } from '../../../domain/access/batched-access.ts';
import type { ConsoleContext } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';

/** Returns the integrator that a row of a list refers to. */
export const loadIntegrator = (context: ConsoleContext, id: string) =>
  loadBatched(context, 'integrators', id, findIntegrators);

/** Returns the client that a row of a list refers to. */
export const loadClient = (context: ConsoleContext, id: string) =>
  loadBatched(context, 'clients by id', id, findClients);
