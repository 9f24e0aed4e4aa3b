/** Returns the option with which the glue code of Emscripten instantiates a compiled module at once. */
export const instantiateFrom = (module: WebAssembly.Module) => ({
  instantiateWasm(imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) {
    const instance = new WebAssembly.Instance(module, imports);
    receive(instance);
    return instance.exports;
  },
});
