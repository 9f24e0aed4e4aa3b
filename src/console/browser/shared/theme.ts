import { useSyncExternalStore } from 'react';

type Theme = 'light' | 'dark';

const KEY = 'console.theme';
const dark = matchMedia('(prefers-color-scheme: dark)');
/** Attributes of the document, of which `data-theme` is the choice of the person. */
const { dataset } = document.documentElement;

const getSystemTheme = (): Theme => (dark.matches ? 'dark' : 'light');

const getTheme = (): Theme => (dataset.theme as Theme | undefined) ?? getSystemTheme();

/** Applies the theme that was chosen before, else that of the system. */
export function applyTheme(): void {
  const choice = localStorage.getItem(KEY);
  if (choice) dataset.theme = choice;
}

/** Switches between light and dark, and keeps the choice in this browser. The choice of the system's own theme is forgotten again. */
export function toggleTheme(): void {
  const next = getTheme() === 'dark' ? 'light' : 'dark';
  if (next === getSystemTheme()) {
    localStorage.removeItem(KEY);
    delete dataset.theme;
  } else {
    localStorage.setItem(KEY, next);
    dataset.theme = next;
  }
  dark.dispatchEvent(new Event('change'));
}

const subscribe = (listener: () => void) => {
  dark.addEventListener('change', listener);
  return () => dark.removeEventListener('change', listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, getTheme);
