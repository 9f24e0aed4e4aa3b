import type { MetadataStorage } from '@mikro-orm/core';
import { fileDefinitions } from '../../src/data-transfer/file-definitions.ts';
import { type Column, createFileMappings, type FileMapping } from '../../src/data-transfer/file-mapping.ts';

/** Formats the tables of docs/data-transfer-format.md, one per file, from the mappings that imports use. */
export function createFormatReference(metadata: MetadataStorage): string {
  return createFileMappings(metadata, fileDefinitions).map(createFileSection).join('\n');
}

function createFileSection(mapping: FileMapping): string {
  const ignoredFields = [...mapping.ignoredFields].map((field) => `\`${field}\``);
  const lines = [
    `### ${mapping.file}`,
    '',
    `Identified by ${mapping.key.map(({ field }) => `\`${field}\``).join(' and ')}.`,
    ...(ignoredFields.length > 0 ? [`Ignored: ${ignoredFields.join(', ')}.`] : []),
    '',
    '| Field | Type | |',
    '|---|---|---|',
    ...mapping.columns.map(
      (column) => `| \`${column.field}\` | ${column.fieldType.label} | ${description(mapping, column)} |`,
    ),
    '',
  ];
  return lines.join('\n');
}

function description(mapping: FileMapping, column: Column): string {
  const reference = [...mapping.references, ...mapping.listReferences].find((candidate) => candidate.column === column);
  const target = reference ? `Of \`${reference.parent.file}\`.` : '';
  const defaultValue = column.default
    ?.replace(/^'(.*)'$/, '$1')
    .replace('{}', column.type.sql === 'text[]' ? '[]' : '{}');
  const absent = column.nullable ? 'May be null.' : defaultValue === undefined ? '' : `Absent: \`${defaultValue}\`.`;
  return [column.description, target, absent].filter(Boolean).join(' ');
}
