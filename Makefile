# The commands of this repository; the work itself is in CMakePresets.json and scripts/.
.PHONY: help bootstrap run unit test test-gpu build wheel bench experiments asan tsan fuzz campaign tidy format clean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

bootstrap:
	@scripts/bootstrap

run: bootstrap ## build the command, and make the tables and figures of the paper, with recorded experiments, in build/report/index.html
	cmake --preset release
	cmake --build --preset release --target fenchel_command
	build/release/frontends/cli/fenchel report --output build/report

unit: bootstrap ## build and run the tests of one folder of src: make unit T=core
	@scripts/test unit --folder "$(T)"

test: bootstrap ## build and run every test and check; the last line counts them
	@scripts/bootstrap g++-aarch64-linux-gnu qemu-user || echo "without these packages the tests of NEON are skipped"
	@scripts/test dev

test-gpu: bootstrap ## build, and run the tests that need a GPU
	@scripts/test dev --gpu

build: bootstrap ## build the library, the command, examples and benchmarks into build/release
	cmake --preset release
	cmake --build --preset release

wheel: bootstrap ## build the Python wheel for everybody, for all GPUs of docs/cuda.md, into build/wheels
	@scripts/wheel

bench: build ## run every benchmark
	@scripts/bench build/release/bench

experiments: ## run the paper's attention experiments on the data in DATA, into experiments/results: make experiments DATA=DIR
	@DATA="$(DATA)" DEVICE="$(DEVICE)" PYTHON="$(PYTHON)" scripts/experiments

asan: bootstrap ## run the tests under the address and undefined behaviour sanitizers
	@scripts/test asan

tsan: ## run the tests of threads under the thread sanitizer
	@scripts/bootstrap clang libclang-rt-14-dev libomp-14-dev
	@scripts/test tsan

fuzz: ## run each fuzz target for a minute, or FUZZ_SECONDS; what fails stays in tests/fuzz/corpus
	@scripts/fuzz

campaign: ## random calls of every public function against the laws, for MINUTES (1) with SEED (0) by JOBS processes; prints what failed
	@MINUTES="$(MINUTES)" SEED="$(SEED)" JOBS="$(JOBS)" PYTHON="$(PYTHON)" scripts/campaign

tidy: bootstrap ## run clang-tidy over src and the headers that it includes
	@scripts/tidy

format: bootstrap ## lay out the C++ sources as scripts/check_format demands
	@scripts/check_format --fix

clean: ## remove build
	rm -rf build
