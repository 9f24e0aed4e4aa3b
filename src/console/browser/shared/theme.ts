import { useSyncExternalStore } from 'react';

type Theme = 'light' | 'dark';

const KEY = 'console.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const chosen = (): Theme | null => {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : null;
};

const current = (): Theme => chosen() ?? (dark.matches ? 'dark' : 'light');

function apply(): void {
  const theme = chosen();
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const listener of listeners) listener();
}

/** Applies the theme that was chosen before, else that of the system. */
export function applyTheme(): void {
  apply();
  dark.addEventListener('change', apply);
}

/** Switches between light and dark, and keeps the choice in this browser. The choice of the system's own theme is forgotten again. */
export function toggleTheme(): void {
  const next = current() === 'dark' ? 'light' : 'dark';
  if (next === (dark.matches ? 'dark' : 'light')) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  apply();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, current);
