import type { EntityMetadata, EntityProperty } from '@mikro-orm/core';
import { afterAll, describe, expect, it } from 'vitest';
import { entities } from '../../entities/index.ts';
import { COLUMN_GROUPS, getPersonalData } from '../../entities/personal-data.ts';
import { createOrm } from '../../src/database/orm.ts';

const orm = createOrm('postgresql://none@127.0.0.1/none');
const tables = entities.map((entity) => orm.em.getMetadata().get(entity as never) as EntityMetadata);

/** Whether the column can hold a person's name: text and JSON that is no id, no reference and no value of an enum. */
const canHoldNames = ({ columnTypes, primary, enum: isEnum, kind, persist }: EntityProperty) =>
  persist !== false && !primary && !isEnum && kind === 'scalar' && /^(text|jsonb|varchar)/.test(columnTypes?.[0] ?? '');

afterAll(() => orm.close());

describe('the declaration of personal data', () => {
  it.each(tables.map((meta) => [meta.className, meta] as const))(
    'has each text column of %s once (PRV-1)',
    (className, meta) => {
      const declaration = getPersonalData(className);
      const declared = COLUMN_GROUPS.flatMap((group) => declaration[group] ?? []);
      const columns = meta.props.filter(canHoldNames).map(({ name }) => name);
      const advice = `Declare each text column of ${className} once, with @PersonalData or the option personal: entities/personal-data.ts`;
      expect([...declared].sort(), advice).toEqual(columns.sort());
    },
  );

  it.each(tables.map((meta) => [meta.className, meta] as const))(
    'of %s names properties that exist',
    (className, meta) => {
      const persons = Object.values(getPersonalData(className).of ?? {});
      expect(persons.filter((property) => !(property in meta.properties))).toEqual([]);
    },
  );

  it.each(tables.map((meta) => [meta.className, meta] as const))(
    'of %s names the people that it refers to',
    (className, meta) => {
      const people = { User: 'user', Worker: 'worker', Profile: 'profile', Contact: 'contact' } as const;
      const { of = {} } = getPersonalData(className);
      const missing = meta.props.filter(({ name, targetMeta }) => {
        const kind = people[targetMeta?.className as keyof typeof people];
        return kind !== undefined && of[kind] !== name;
      });
      const advice = `@PersonalData of ${className} must name each reference to a person in "of"`;
      expect(
        missing.map(({ name }) => name),
        advice,
      ).toEqual([]);
    },
  );

  it('clears only columns that may be null or are lists', () => {
    const wrong = tables.flatMap(({ className, properties }) => {
      const { cleared = [], file = [], secret = [], erase } = getPersonalData(className);
      if (erase === 'delete') return [];
      const columns = [...cleared, ...file, ...secret].map((name) => properties[name as never] as EntityProperty);
      return columns.filter(({ nullable, default: value }) => !nullable && value !== "'[]'" && value !== '[]');
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});
