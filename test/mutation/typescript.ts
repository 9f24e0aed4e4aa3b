import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type typescript from '../clients/node_modules/typescript/lib/typescript.js';

/** The last TypeScript with a parser in JavaScript, which the workspace of the generated clients has. */
export const ts: typeof typescript = createRequire(resolve('test/clients/package.json'))('typescript');

export type Node = typescript.Node;
export type SourceFile = typescript.SourceFile;

export const parse = (file: string, source: string): SourceFile =>
  ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);

/** Bodies of the functions of a file, outer ones before those within them. Their index identifies them. */
export function findFunctionBodies(file: SourceFile): Node[] {
  const bodies: Node[] = [];
  const visit = (node: Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) bodies.push(node.body as Node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return bodies;
}
