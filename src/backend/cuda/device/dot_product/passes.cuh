#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"
#include "backend/cuda/device/dot_product/tile_stream.cuh"

/// Passes over the keys of a block of queries.
namespace fenchel::cuda::device {

/// Which tiles of keys a block reads, and how many keys a warp's queries may see.
struct KeyRange {
  int tiles, warp_keys;

  template <class T>
  __device__ static KeyRange of(const DotProducts<T>& x, const Place& at, index_t first_query) {
    const index_t n = x.query.rows;
    const index_t keys = keys_before(x, min(n, at.first + kBlockRows));
    return {static_cast<int>((keys + kTileRows - 1) / kTileRows),
            static_cast<int>(keys_before(x, min(n, first_query + kWarpRows)))};
  }
};

/// body(z, first_key) for the scores, without their unit, of the tiles [first, end), as far as a warp's
/// queries may see them.
template <class T, int kD, class Stream, class Body>
__device__ inline void for_each_tile(Stream& stream, const LeftOperand (&query)[kD / 16],
                                     const Scores<T>& scores, int warp_keys, int first, int end,
                                     const Body& body) {
  for (int tile = end - 1; tile >= first; --tile) {
    TileSums z[kTileRows / 8];
    multiply_by_tile<T, kD>(z, query, stream.next());
    stream.done();
    const int first_key = tile * kTileRows;
    if (first_key >= warp_keys) continue;
    scores.finish(z, first_key);
    body(z, first_key);
  }
}

/// product(key_rows, value_rows) and, as far as a warp's queries may see them, body(key_rows, value_rows,
/// first_key) for all tiles of keys and values.
template <class T, int kD, int kE, class Product, class Body>
__device__ inline void for_each_tile_of_both(TileStream<T, kD>& keys, TileStream<T, kE>& values,
                                             const KeyRange& range, const Product& product,
                                             const Body& body) {
  keys.start(range.tiles - 1);
  values.start(range.tiles - 1);
  for (int tile = range.tiles - 1; tile >= 0; --tile) {
    const Tile<kD> key_rows = keys.next();
    const Tile<kE> value_rows = values.next();
    product(key_rows, value_rows);
    if (tile * kTileRows < range.warp_keys) body(key_rows, value_rows, tile * kTileRows);
    keys.done();
    values.done();
  }
}

}  // namespace fenchel::cuda::device
