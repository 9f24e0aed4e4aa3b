import { useEffect, useState } from 'react';
import { useNavigate } from 'react-router';
import { BuilderPicker } from '../components/builder-picker.tsx';
import { Button, IconButton } from '../components/button.tsx';
import { Glyph } from '../components/glyph.tsx';
import { formatRegion } from '../shared/format.ts';
import { useScope } from '../shared/scope.tsx';
import { useConnection } from '../shared/session.ts';
import { toggleTheme, useTheme } from '../shared/theme.ts';
import { SearchDialog } from './search-dialog.tsx';
import { MENU_ID } from './sidebar.tsx';

const STATES = { online: 'Live', offline: 'No connection', ended: 'Signed out' } as const;

export function TopBar({ showsBuilder }: { showsBuilder: boolean }) {
  const { me, region, builder, isUnknownBuilder } = useScope();
  const connection = useConnection();
  const theme = useTheme();
  const navigate = useNavigate();
  // Filters name projects of the builder before.
  const chooseBuilder = (builder: string) => navigate({ search: `?${new URLSearchParams({ region, builder })}` });
  return (
    <header className="topbar">
      <IconButton className="plain icon menu" glyph="menu" label="Open the menu" popoverTarget={MENU_ID} />
      {showsBuilder && (builder || isUnknownBuilder) && (
        <BuilderPicker label="Builder" hideLabel value={builder?.name ?? ''} onChoose={({ id }) => chooseBuilder(id)} />
      )}
      <Search />
      <span className="live soft small" data-state={connection === 'online' ? 'online' : 'offline'} role="status">
        <span>{STATES[connection]}</span>
      </span>
      {me.regions.length > 1 ? (
        <select
          aria-label="Region"
          value={region}
          onChange={({ target }) => navigate({ search: `?region=${target.value}` })}
        >
          {me.regions.map((id) => (
            <option key={id} value={id}>
              {formatRegion(id)}
            </option>
          ))}
        </select>
      ) : (
        <span className="badge" title="Region">
          {formatRegion(region)}
        </span>
      )}
      <IconButton
        glyph={theme === 'dark' ? 'light' : 'dark'}
        label={theme === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
        onClick={toggleTheme}
      />
    </header>
  );
}

/** Opens the search, also by Ctrl-K. */
function Search() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setIsOpen(true);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <>
      <Button className="search-field" aria-keyshortcuts="Control+K" onClick={() => setIsOpen(true)}>
        <Glyph name="search" />
        <span>Search</span>
        <kbd>Ctrl K</kbd>
      </Button>
      {isOpen && <SearchDialog onClose={() => setIsOpen(false)} />}
    </>
  );
}
