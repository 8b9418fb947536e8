/// What a C++ program names to be linked with this library: all else in it is found through torch.
extern "C" __attribute__((visibility("default"))) void fenchel_load_torch_ops() {}
