#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"
#include "backend/cuda/device/dot_product/tile_stream.cuh"

/// Passes over the keys of a block of queries.
namespace fenchel::cuda::device {

/// Which tiles of keys a block reads, those of the sinks first, and which keys a warp's queries may see.
struct BlockKeys {
  TileOrder order;
  int tiles;
  int common;    ///< from this tile on all queries of the block see keys, where there are such tiles
  int from, to;  ///< of the warp, but for sinks
  int count;     ///< not less than those of each query of the warp

  template <class T>
  __device__ static BlockKeys of(const DotProducts<T>& x, const Place& at, index_t first_query) {
    const index_t n = x.query.rows;
    const KeyRange begin = keys_of(x, at.b, at.first),
                   end = keys_of(x, at.b, min(n, at.first + kBlockRows) - 1);
    BlockKeys keys;
    keys.order = {0, begin.origin / kTileRows, begin.first / kTileRows};
    if (x.sinks > 0) {
      const index_t past = (begin.origin + x.sinks + kTileRows - 1) / kTileRows;
      const int past_early = static_cast<int>(min(past, static_cast<index_t>(keys.order.first)));
      keys.order.early = max(past_early - keys.order.first_early, 0);
    }
    const int others = (end.last + kTileRows - 1) / kTileRows - keys.order.first;
    keys.tiles = max(keys.order.early + others, 1);  // one that nobody sees, where there is no key
    keys.common = min(keys.order.early + end.first / kTileRows - keys.order.first, keys.tiles - 1);
    keys.from = keys_of(x, at.b, min(n - 1, first_query)).first;
    keys.to = keys_of(x, at.b, min(n, first_query + kWarpRows) - 1).last;
    keys.count = static_cast<int>(min(max(keys.to - keys.from, 1) + x.sinks, x.key.rows));
    return keys;
  }
  /// Whether the warp's queries may see keys of a tile.
  [[nodiscard]] __device__ bool sees(int tile) const {
    const int first_key = order(tile) * kTileRows;
    return first_key < to && (first_key + kTileRows > from || tile < order.early);
  }
};

/// body(z, first_key) for the scores, without their unit, of the tiles [first, end), as far as a warp's
/// queries may see them.
template <class T, int kD, class Stream, class Body>
__device__ inline void for_each_tile(Stream& stream, const LeftOperand (&query)[kD / 16],
                                     const Scores<T>& scores, const BlockKeys& range, int first, int end,
                                     const Body& body) {
  for (int tile = end - 1; tile >= first; --tile) {
    TileSums z[kTileRows / 8];
    multiply_by_tile<T, kD>(z, query, stream.next());
    stream.done();
    if (!range.sees(tile)) continue;
    const int first_key = range.order(tile) * kTileRows;
    scores.finish(z, first_key);
    body(z, first_key);
  }
}

/// product(key_rows, value_rows) and, as far as a warp's queries may see them, body(key_rows, value_rows,
/// first_key) for all tiles of keys and values.
template <class T, int kD, int kE, class Product, class Body>
__device__ inline void for_each_tile_of_both(TileStream<T, kD>& keys, TileStream<T, kE>& values,
                                             const BlockKeys& range, const Product& product,
                                             const Body& body) {
  keys.start(range.tiles - 1);
  values.start(range.tiles - 1);
  for (int tile = range.tiles - 1; tile >= 0; --tile) {
    const Tile<kD> key_rows = keys.next();
    const Tile<kE> value_rows = values.next();
    product(key_rows, value_rows);
    if (range.sees(tile)) body(key_rows, value_rows, range.order(tile) * kTileRows);
    keys.done();
    values.done();
  }
}

}  // namespace fenchel::cuda::device
