/** Browsers open no paths. */
export function openFile(path: string): Promise<{ blob: Blob; fileName: string }> {
  return Promise.reject(new TypeError(`A browser cannot open ${JSON.stringify(path)}: pass a File.`));
}
