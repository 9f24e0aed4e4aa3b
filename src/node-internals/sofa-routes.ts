/** A route of SOFA's router. */
interface SofaRoute {
  method: string;
  path: string;
  handler: (request: object, serverContext: object) => Promise<unknown>;
}

/** Returns the handlers of SOFA's router by method and path. Throws where this version of SOFA has another router: the service cannot start. */
export function listSofaHandlers(router: object): Map<string, SofaRoute['handler']> {
  const { __routes: routes } = router as { __routes?: SofaRoute[] };
  if (!routes)
    throw new Error(
      'SOFA has no list of its routes: use the version of package.json, or correct src/node-internals/sofa-routes.ts.',
    );
  return new Map(routes.map(({ method, path, handler }) => [`${method.toUpperCase()} ${path}`, handler]));
}
