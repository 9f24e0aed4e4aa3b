import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useNavigate } from 'react-router';
import { Modal } from '../components/drawer.tsx';
import { FindDocument, type FindQuery, type MatchKind } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';
import { useAddress } from '../shared/filters.ts';
import { useScope } from '../shared/scope.tsx';

/** Milliseconds without a keystroke after which the text is searched for. */
const PAUSE_MS = 150;

type Match = FindQuery['find'][number];

/** The word for each kind, with the page and the parameters that show a record of it. */
const KINDS: Record<MatchKind, readonly [string, (match: Match) => readonly [string, Record<string, string>?]]> = {
  PROJECT: ['Project', ({ id }) => ['/attendance', { project: id }]],
  WORKER: ['Worker', ({ id }) => ['/workers', { worker: id }]],
  SUBCONTRACTOR: ['Subcontractor', ({ name }) => ['/insurances', { search: name, ends: 'any' }]],
  USER: ['Person', ({ id }) => ['/people', { person: id }]],
  INTEGRATOR: ['Integrator', ({ id }) => [`/integrations/${id}`]],
  CLIENT: ['Client', ({ id, integratorId }) => [`/integrations/${integratorId ?? ''}`, { client: id }]],
  REQUEST: ['Failed request', ({ id }) => ['/integrations', { request: id }]],
};

/** A search over the records of the builder, and people, integrators, clients and requests of the region. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const { builder, can } = useScope();
  const list = useId();
  const navigate = useNavigate();
  const address = useAddress();
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  const [active, setActive] = useState(0);
  useEffect(() => {
    const timer = setTimeout(() => {
      setSearched(text.trim());
      setActive(0);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const { data } = useRequest(FindDocument, { text: searched, builderId: builder?.id }, { pause: !searched });
  const matches = searched ? (data?.find ?? []) : [];
  const open = (match: Match | undefined) => {
    if (!match) return;
    const [page, filters] = KINDS[match.kind][1](match);
    onClose();
    // Attendance names people.
    navigate(address(page === '/attendance' && !can('person.read') ? '/photos' : page, filters));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) setActive(Math.min(Math.max(active + step, 0), matches.length - 1));
    else if (event.key === 'Enter') open(matches[active]);
    else return;
    event.preventDefault();
  };
  return (
    <Modal
      className="box search"
      aria-label="Search"
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <input
        type="search"
        role="combobox"
        aria-label="Search"
        aria-expanded={matches.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={matches[active] && `${list}-${active}`}
        autoComplete="off"
        spellCheck={false}
        placeholder="Name or request id"
        maxLength={200}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={list} aria-label="Found">
        {matches.map((match, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input.
          <div
            key={`${match.kind} ${match.id}`}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === active}
            onClick={() => open(match)}
          >
            <span>
              {match.name} <span className="soft">{match.detail}</span>
            </span>
            <span className="soft small nowrap">{KINDS[match.kind][0]}</span>
          </div>
        ))}
      </div>
      {matches.length === 0 && (
        <p className="soft search-hint" role="status">
          {!searched
            ? `Projects${can('person.read') ? ', workers' : ''} and subcontractors of ${builder?.name ?? 'the builder'}; ${can('person.read') ? 'people, ' : ''}integrators, clients and failed requests.`
            : data
              ? 'Nothing has this name or id.'
              : 'Searching…'}
        </p>
      )}
    </Modal>
  );
}
