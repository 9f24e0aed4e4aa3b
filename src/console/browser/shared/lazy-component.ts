import { type ComponentType, lazy } from 'react';

/** Milliseconds between attempts to reach the service. */
const RETRY_MS = 1000;

/** Returns a component whose module is loaded when it is shown. */
export const lazyComponent = <Props>(load: () => Promise<{ default: ComponentType<Props> }>) =>
  lazy(() => loadModule(load));

/** Loads a module, without a connection once the service can be reached. Rejects where the service does not have it, as after an upgrade. */
async function loadModule<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch {
    while (!(await isReachable())) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    // The module's loader does not request styles again that failed.
    for (const link of document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]'))
      if (!link.sheet) link.replaceWith(link.cloneNode());
    return load();
  }
}

const isReachable = (): Promise<boolean> =>
  fetch('/console/', { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  );
