import { type KeyboardEvent, useId, useState } from 'react';
import { type BuilderChoiceFragment, BuilderSearchDocument } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';
import { formatCount } from '../shared/format.ts';
import { Glyph } from './glyph.tsx';

interface Props {
  label: string;
  /** Whether the label is for screen readers alone. */
  hideLabel?: boolean;
  /** Name of the chosen builder. */
  value: string;
  /** Builders that are not offered. */
  excluded?: readonly string[];
  onChoose: (builder: BuilderChoiceFragment) => void;
}

/** A choice of one of all builders, which are found by a part of their name. WAI-ARIA: a combobox with a list. */
export function BuilderPicker({ label, hideLabel = false, value, excluded = [], onChoose }: Props) {
  const list = useId();
  const [text, setText] = useState<string | null>(null);
  const [active, setActive] = useState(0);
  const isOpen = text !== null;
  const { data } = useRequest(BuilderSearchDocument, { name: text || null }, { pause: !isOpen });
  const found = (data?.findBuilders.data ?? []).filter(({ id }) => !excluded.includes(id));
  const more = (data?.findBuilders.totalCount ?? 0) - (data?.findBuilders.data.length ?? 0);
  const open = (next: string) => {
    setText(next);
    setActive(0);
  };
  const choose = (builder: BuilderChoiceFragment | undefined) => {
    setText(null);
    if (builder) onChoose(builder);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      if (isOpen) setActive(Math.min(Math.max(active + step, 0), found.length - 1));
      else open('');
    } else if (isOpen && event.key === 'Enter') choose(found[active]);
    else if (isOpen && event.key === 'Escape') setText(null);
    else return;
    event.preventDefault();
  };
  return (
    <label className="field picker">
      <span className={hideLabel ? 'visually-hidden' : undefined}>{label}</span>
      <input
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && found[active] ? `${list}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={text ?? value}
        placeholder={isOpen ? value : undefined}
        onChange={({ target }) => open(target.value)}
        onClick={() => !isOpen && open('')}
        onBlur={() => setText(null)}
        onKeyDown={onKeyDown}
      />
      <Glyph name="choose" />
      <div className="options" hidden={!isOpen}>
        <div role="listbox" id={list} aria-label={label}>
          {found.map((builder, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the input handles the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input.
            <div
              key={builder.id}
              id={`${list}-${index}`}
              role="option"
              aria-selected={index === active}
              onMouseDown={(event) => event.preventDefault()}
              onClick={(event) => {
                // A click in a label is one on its input too, which would open the list again.
                event.preventDefault();
                choose(builder);
              }}
            >
              {builder.name}
            </div>
          ))}
        </div>
        {data && found.length === 0 && <p className="soft">No builder has this in its name.</p>}
        {more > 0 && <p className="soft">{formatCount(more)} more: type a part of the name.</p>}
      </div>
    </label>
  );
}

/** Name of a builder; its id while it is read, or where the builder is no longer there. */
export function BuilderName({ id }: { id: string }) {
  const { data } = useRequest(BuilderSearchDocument, { id });
  return data?.findBuilders.data[0]?.name ?? <code>{id}</code>;
}
