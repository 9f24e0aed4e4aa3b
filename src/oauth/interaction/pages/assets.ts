import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { rejectOtherMethods } from '../../../http/method-not-allowed.ts';
import { ICON } from './icon.ts';
import { STYLES } from './styles.ts';

interface Asset {
  path: string;
  contentType: string;
  text: string;
}

/** Creates an asset whose path contains a hash of its text, so that browsers can cache it forever. */
function createAsset(name: string, extension: string, contentType: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { path: `/oauth/assets/${name}-${hash}.${extension}`, contentType, text };
}

export const stylesheet = createAsset('pages', 'css', 'text/css; charset=utf-8', STYLES);
export const icon = createAsset('icon', 'svg', 'image/svg+xml', ICON);

/** Registers the routes of the stylesheet and the icon. */
export function registerAssets(app: FastifyInstance): void {
  for (const { path, contentType, text } of [stylesheet, icon]) {
    app.get(path, async (_request, reply) =>
      reply.headers({ 'Content-Type': contentType, 'Cache-Control': 'public, max-age=31536000, immutable' }).send(text),
    );
    rejectOtherMethods(app, [path]);
  }
}
