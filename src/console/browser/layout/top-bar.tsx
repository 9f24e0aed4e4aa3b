import { useNavigate } from 'react-router';
import { BuilderPicker } from '../components/builder-picker.tsx';
import { IconButton } from '../components/button.tsx';
import { formatRegion } from '../shared/format.ts';
import { useScope } from '../shared/scope.tsx';
import { useConnection } from '../shared/session.ts';
import { toggleTheme, useTheme } from '../shared/theme.ts';

const STATES = { online: 'Live', offline: 'No connection', ended: 'Signed out' } as const;

export function TopBar({ showsBuilder, onMenu }: { showsBuilder: boolean; onMenu: () => void }) {
  const { me, region, builder, isUnknownBuilder } = useScope();
  const connection = useConnection();
  const theme = useTheme();
  const navigate = useNavigate();
  // Filters name projects of the builder before.
  const chooseBuilder = (builder: string) => navigate({ search: `?${new URLSearchParams({ region, builder })}` });
  return (
    <header className="topbar">
      <IconButton className="plain icon menu" glyph="menu" label="Open the menu" onClick={onMenu} />
      {showsBuilder && (builder || isUnknownBuilder) && (
        <BuilderPicker label="Builder" hideLabel value={builder?.name ?? ''} onChoose={({ id }) => chooseBuilder(id)} />
      )}
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
