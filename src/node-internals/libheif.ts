import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The exports of libheif's C API, by name, and its memory. */
export type LibHeif = Record<`_${string}`, (...parameters: number[]) => number> & {
  HEAPU8: Uint8Array<ArrayBuffer>;
  HEAPU32: Uint32Array;
};

const PAGE_BYTES = 64 * 1024;
const SCRIPT = 'libheif-js/libheif-wasm/libheif.js';
const require = createRequire(import.meta.url);

/** Loads libheif into this thread. An allocation fails for which its memory would have more than `maxBytes`, as that of any WebAssembly here. */
export function loadLibHeif(maxBytes: number): LibHeif {
  const grow = WebAssembly.Memory.prototype.grow;
  WebAssembly.Memory.prototype.grow = function limitedGrow(this: WebAssembly.Memory, pages: number): number {
    if (this.buffer.byteLength + pages * PAGE_BYTES > maxBytes) throw new RangeError('The memory is used up.');
    return grow.call(this, pages);
  };
  const instantiate = require(SCRIPT) as (options: object) => LibHeif;
  return instantiate({ wasmBinary: readFileSync(require.resolve('libheif-js/libheif-wasm/libheif.wasm')) });
}

/** Functions of libheif's C API that the service calls. libheif-js exports them under these names. */
const FUNCTIONS = [
  '_heif_context_alloc',
  '_heif_context_get_item_references',
  '_heif_context_get_list_of_item_IDs',
  '_heif_context_get_number_of_items',
  '_heif_context_get_primary_image_handle',
  '_heif_context_read_from_memory_without_copy',
  '_heif_decode_image',
  '_heif_image_get_height',
  '_heif_image_get_plane_readonly',
  '_heif_image_get_width',
  '_heif_image_handle_get_height',
  '_heif_image_handle_get_list_of_metadata_block_IDs',
  '_heif_image_handle_get_metadata',
  '_heif_image_handle_get_metadata_size',
  '_heif_image_handle_get_nclx_color_profile',
  '_heif_image_handle_get_raw_color_profile',
  '_heif_image_handle_get_raw_color_profile_size',
  '_heif_image_handle_get_width',
  '_heif_image_handle_has_alpha_channel',
  '_heif_item_get_item_data',
  '_heif_item_get_item_type',
  '_heif_release_item_references',
  '_malloc',
];

/** Whether this version of libheif-js exports the functions that the service calls, and grows its memory in the way that is limited. */
export function testLibHeif(): boolean {
  const script = readFileSync(require.resolve(SCRIPT), 'utf8');
  return FUNCTIONS.every((name) => script.includes(`.${name}=`)) && script.includes('.grow(');
}
