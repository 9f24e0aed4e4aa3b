import type { MetadataStorage } from '@mikro-orm/core';
import { buildPlans, type Column, type Plan } from './plan.ts';
import { resources } from './resources.ts';

/** The tables of docs/data-transfer-format.md, one for each file, from what the import itself goes by. */
export function formatReference(metadata: MetadataStorage): string {
  return buildPlans(metadata, resources).map(fileReference).join('\n');
}

function fileReference(plan: Plan): string {
  const derived = [...plan.derived].map((field) => `\`${field}\``);
  const lines = [
    `### ${plan.file}`,
    '',
    `Known by ${plan.key.map(({ field }) => `\`${field}\``).join(' and ')}.`,
    ...(derived.length > 0 ? [`Passed over: ${derived.join(', ')}.`] : []),
    '',
    '| Field | Type | |',
    '|---|---|---|',
    ...plan.columns.map((column) => `| \`${column.field}\` | ${column.shape.label} | ${meaning(plan, column)} |`),
    '',
  ];
  return lines.join('\n');
}

function meaning(plan: Plan, column: Column): string {
  const reference = [...plan.references, ...plan.links].find((candidate) => candidate.column === column);
  const target = reference ? `Of \`${reference.parent.file}\`.` : '';
  const otherwise = column.default?.replace(/^'(.*)'$/, '$1').replace('{}', column.type.sql === 'text[]' ? '[]' : '{}');
  const absent = column.nullable ? 'May be null.' : otherwise === undefined ? '' : `Absent: \`${otherwise}\`.`;
  return [column.meaning, target, absent].filter(Boolean).join(' ');
}
