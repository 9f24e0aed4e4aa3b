import { useEffect, useState } from 'react';
import { BuilderSearchDocument } from '../graphql/generated.ts';
import { useProjects } from '../graphql/use-projects.ts';
import { useRequest } from '../graphql/use-request.ts';
import { useFilters } from '../shared/filters.ts';
import { useBuilder } from '../shared/scope.tsx';
import { BuilderPicker } from './builder-picker.tsx';
import { Button } from './button.tsx';
import { type Options, SelectField, TextField } from './fields.tsx';

/** Milliseconds without a keystroke after which a search is sent. */
const PAUSE_MS = 300;

interface Props {
  /** Parameter of the URL. */
  name: string;
  label: string;
  /** Value that applies without a choice. */
  fallback?: string;
}

interface SelectProps extends Props {
  options: Options;
  /** Label of no choice, where no value applies without one. */
  all?: string;
}

/** A choice that is kept in the URL. */
export function SelectFilter({ name, label, options, all = 'All', fallback }: SelectProps) {
  const filters = useFilters();
  return (
    <SelectField
      label={label}
      options={fallback === undefined ? [['', all], ...options] : options}
      value={filters.get(name) ?? fallback ?? ''}
      onChange={(value) => filters.set({ [name]: value })}
    />
  );
}

/** A day that is kept in the URL. */
export function DayFilter({ name, label, fallback = '', max = '9999-12-31' }: Props & { max?: string }) {
  const filters = useFilters();
  const value = filters.get(name) ?? fallback;
  const onChange = (day: string) => filters.set({ [name]: day });
  return <TextField type="date" label={label} required={false} value={value} max={max} onChange={onChange} />;
}

/**
 * A text to search for, kept in the URL. Typing without a pause is one step of the back button.
 *
 * @param props.position Parameter of the list's position, where it is not one of the usual ones.
 */
export function SearchFilter({ name, label, position }: Props & { position?: string }) {
  const filters = useFilters();
  const current = filters.get(name) ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  // After each render, so that a filter that was changed in the meantime is kept.
  useEffect(() => {
    if (text === current) return;
    const changes = { [name]: text, ...(position && { [position]: null }) };
    const timer = setTimeout(() => filters.set(changes, { replace: current !== '' }), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <TextField type="search" label={label} placeholder="Search" required={false} value={text} onChange={setText} />
  );
}

/** A choice of one of the builder's projects by its name. */
export function ProjectFilter({ fallback }: { fallback?: string }) {
  const { data = [] } = useProjects(useBuilder().id);
  const byName = [...data].sort((one, other) => one.name.localeCompare(other.name));
  const options = byName.map(({ id, name }) => [id, name] as const);
  return <SelectFilter name="project" label="Project" options={options} fallback={fallback} />;
}

/** The builder of the URL's parameter `of`, and a button that clears it. */
export function BuilderFilter() {
  const filters = useFilters();
  const id = filters.get('of');
  const { data } = useRequest(BuilderSearchDocument, { id }, { pause: id === undefined });
  const name = id ? (data?.findBuilders.data.find((builder) => builder.id === id)?.name ?? '') : 'All';
  return (
    <div className="actions picker-filter">
      <BuilderPicker label="Builder" value={name} onChoose={(builder) => filters.set({ of: builder.id })} />
      {id && <Button onClick={() => filters.set({ of: null })}>All builders</Button>}
    </div>
  );
}
