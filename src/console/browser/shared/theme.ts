import { useSyncExternalStore } from 'react';

type Theme = 'light' | 'dark';

const KEY = 'console.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

const readChoice = (): Theme | null => {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : null;
};

const getTheme = (): Theme => readChoice() ?? (dark.matches ? 'dark' : 'light');

function updateDocument(): void {
  const theme = readChoice();
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const listener of listeners) listener();
}

/** Applies the theme that was chosen before, else that of the system. */
export function applyTheme(): void {
  updateDocument();
  dark.addEventListener('change', updateDocument);
}

/** Switches between light and dark, and keeps the choice in this browser. The choice of the system's own theme is forgotten again. */
export function toggleTheme(): void {
  const next = getTheme() === 'dark' ? 'light' : 'dark';
  if (next === (dark.matches ? 'dark' : 'light')) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, next);
  updateDocument();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, getTheme);
