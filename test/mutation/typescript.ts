import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type typescript from '../clients/node_modules/typescript/lib/typescript.js';

/** TypeScript 5, the last version with a parser in JavaScript; installed in the workspace of the generated clients. */
export const ts: typeof typescript = createRequire(resolve('test/clients/package.json'))('typescript');

export type Node = typescript.Node;
type SourceFile = typescript.SourceFile;

export const parse = (file: string, source: string): SourceFile =>
  ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);

/** Returns the bodies of the functions of a file, outer ones before inner ones. Their index identifies a function. */
export function findFunctionBodies(file: SourceFile): Node[] {
  const bodies: Node[] = [];
  const visit = (node: Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) bodies.push(node.body as Node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return bodies;
}
