import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { ICON } from './icon.ts';
import { STYLES } from './styles.ts';

interface Asset {
  path: string;
  type: string;
  text: string;
}

/** Named after its content, so that a browser may keep it for good. */
function asset(name: string, extension: string, type: string, text: string): Asset {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return { path: `/oauth/assets/${name}-${hash}.${extension}`, type, text };
}

export const stylesheet = asset('pages', 'css', 'text/css; charset=utf-8', STYLES);
export const icon = asset('icon', 'svg', 'image/svg+xml', ICON);

/** The files that the pages load, from our own origin. */
export function serveAssets(app: FastifyInstance): void {
  for (const { path, type, text } of [stylesheet, icon]) {
    app.get(path, async (_request, reply) =>
      reply.headers({ 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }).send(text),
    );
  }
}
