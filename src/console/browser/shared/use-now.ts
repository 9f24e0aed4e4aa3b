import { useEffect, useState } from 'react';

/** Returns the time in milliseconds, which grows in steps while the tab is visible. */
export function useNow(stepMs = 15_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') setNow(Date.now());
    }, stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);
  return now;
}
