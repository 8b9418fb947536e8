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
  int from, to;  ///< of the warp
  int sinks_to;  ///< and sinks before this key

  template <class T>
  __device__ static BlockKeys of(const DotProducts<T>& x, const Place& at, index_t first_query) {
    const index_t n = x.query.rows;
    const auto sinks_of = [&](const KeyRange& range) {
      return x.sinks == 0 ? 0 : static_cast<int>(min(range.origin + x.sinks, x.key.rows));
    };
    const KeyRange begin = keys_of(x, at.b, at.first),
                   end = keys_of(x, at.b, min(n, at.first + kBlockRows) - 1),
                   own = keys_of(x, at.b, min(n - 1, first_query));
    const auto tiles_to = [](int key) { return (key + kTileRows - 1) / kTileRows; };
    const int first_early = begin.origin / kTileRows, first = begin.first / kTileRows;
    const int early = max(min(tiles_to(sinks_of(begin)), first) - first_early, 0);
    // One that nobody sees, where there is no key.
    const int tiles = max(early + tiles_to(end.last) - first, 1);
    return {{early, first_early, first - early},
            tiles,
            min(early + end.first / kTileRows - first, tiles - 1),
            own.first,
            keys_of(x, at.b, min(n, first_query + kWarpRows) - 1).last,
            sinks_of(own)};
  }
  /// Whether the warp's queries may see keys of the tile that begins with this one.
  [[nodiscard]] __device__ bool sees(int first_key) const {
    return first_key < to && (first_key + kTileRows > from || first_key < sinks_to);
  }
  /// How many keys a query of the warp sees, at the most.
  [[nodiscard]] __device__ int count() const { return max(to - from, 1) + sinks_to; }
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
    const int first_key = range.order(tile) * kTileRows;
    if (!range.sees(first_key)) continue;
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
    const int first_key = range.order(tile) * kTileRows;
    if (range.sees(first_key)) body(key_rows, value_rows, first_key);
    keys.done();
    values.done();
  }
}

}  // namespace fenchel::cuda::device
