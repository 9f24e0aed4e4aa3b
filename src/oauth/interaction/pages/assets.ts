import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { rejectOtherMethods } from '../../../http/method-not-allowed.ts';
import { STYLES } from './styles.ts';

/** Logo of the service, as SVG. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="8" fill="#17456b"/>
<path d="M8 24V13l8-5 8 5v11M8 24h16M8 17h16M16 8v16" fill="none" stroke="#fff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`;

interface Asset {
  path: string;
  contentType: string;
  text: string;
}

const CONTENT_TYPES = { css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };

/** Creates an asset whose path contains a hash of its text, so that browsers can cache it forever. */
export function createAsset(name: string, extension: keyof typeof CONTENT_TYPES, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { path: `${name}-${hash}.${extension}`, contentType: CONTENT_TYPES[extension], text };
}

export const stylesheet = createAsset('/oauth/assets/pages', 'css', STYLES);
export const icon = createAsset('/oauth/assets/icon', 'svg', ICON);

/** Registers the routes of the assets. */
export function registerAssets(app: FastifyInstance, assets: readonly Asset[]): void {
  for (const { path, contentType, text } of assets) {
    app.get(path, async (_request, reply) =>
      reply.headers({ 'Content-Type': contentType, 'Cache-Control': 'public, max-age=31536000, immutable' }).send(text),
    );
    rejectOtherMethods(app, [path]);
  }
}
