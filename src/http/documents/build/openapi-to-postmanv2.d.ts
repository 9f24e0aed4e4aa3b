/** The part of the package that the build uses; it has no types of its own. */
declare module 'openapi-to-postmanv2' {
  type Conversion =
    | { result: true; output: [{ type: 'collection'; data: object }] }
    | { result: false; reason: string };

  const converter: {
    convertV2(
      input: { type: 'json'; data: object },
      options: Record<string, unknown>,
      callback: (error: Error | null, conversion: Conversion) => void,
    ): void;
  };
  export default converter;
}
