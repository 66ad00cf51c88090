"""The options of the runners that can be narrowed, as far as they are known."""

from __future__ import annotations

from morph_tasks.verify.narrowing.options import Table, camel, single


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PYTEST = Table(
    flags=_words("""
        -q --quiet -v --verbose -x --exitfirst -s -l --showlocals --no-showlocals --strict --strict-markers
        --strict-config --no-header --no-summary --full-trace --runxfail --cache-clear --disable-warnings
        --disable-pytest-warnings --setup-show --no-cov --no-cov-on-fail --cov-append --cov-branch --cov-reset
        --force-sugar --old-summary --nf --new-first --trace-config --noconftest --keep-duplicates --force-flaky
        --no-flaky-report --random-order --reuse-db --no-migrations --nomigrations --create-db --migrations
        --benchmark-skip --benchmark-disable --benchmark-enable --snapshot-update --allow-hosts --disable-socket
        --headed --doctest-modules --doctest-ignore-import-errors --doctest-continue-on-failure
        --self-contained-html --forked --instafail --tap-stream --tap-combined --strict-xfail --mypy --ruff
        --ruff-format --black --flake8 --isort --nbval
    """),
    values=_words("""
        -c --config-file --rootdir --confcutdir -o --override-ini -p -r -W --pythonwarnings --tb --maxfail
        --junitxml --junit-xml --junitprefix --junit-prefix --durations --durations-min --basetemp --capture
        --color --code-highlight --verbosity --import-mode --show-capture --assert --log-level --log-format
        --log-date-format --log-cli-level --log-cli-format --log-cli-date-format --log-file --log-file-level
        --log-file-mode --log-auto-indent --log-disable --pastebin --pdbcls --cov-report --cov-config
        --cov-fail-under --cov-context -n --numprocesses --dist --maxprocesses --max-worker-restart --tx
        --timeout --timeout-method --session-timeout --reruns --reruns-delay --only-rerun --rerun-except
        --randomly-seed --random-order-bucket --random-order-seed --html --css --alluredir --ds --dc
        --django-settings-module --asyncio-mode --browser --browser-channel --base-url --driver --doctest-glob
        --doctest-report --doctest-encoding --benchmark-json --benchmark-columns --benchmark-sort
        --benchmark-storage --hypothesis-profile --hypothesis-seed --hypothesis-verbosity --anyio-backends
        --md-report-output --tap-outdir --variables --report-log --json-report-file --excelreport --rp-launch
        --record-mode
    """),
    perhaps=_words("""
        --cov --cache-show --json-report --nunit-xml --snapshot-report
    """),
    selects=_words("""
        -k -m --lf --last-failed --ff --failed-first --sw --stepwise --sw-skip --stepwise-skip --sw-reset
        --deselect --ignore --ignore-glob --co --collect-only --collectonly --pyargs --last-failed-no-failures
        --fixtures --funcargs --fixtures-per-test --setup-only --setup-plan --markers --picked --testmon
        --testmon-noselect --testmon-forceselect --splits --group --num-shards --shard-id --test-group
        --test-group-count --benchmark-only --collect-in-virtualenv --nbval-lax --help -h --version -V --pdb
        --trace
    """),
)

VITEST = Table(
    flags=_words("""
        --run --globals --dom --isolate --fileParallelism --hideSkippedTests --passWithNoTests --logHeapUsage
        --allowOnly --dangerouslyIgnoreUnhandledErrors --expandSnapshotDiff --disableConsoleIntercept
        --clearScreen --coverage.enabled --coverage.all --coverage.clean --coverage.skipFull --typecheck.enabled
        --printConsoleTrace --color --cache --includeTaskLocation --sequence.concurrent --strictFileParallelism
        --no-file-parallelism
    """),
    values=_words("""
        -c --config -r --root --dir --reporter --outputFile --environment --pool --maxWorkers --minWorkers
        --maxConcurrency --mode --retry --bail --testTimeout --hookTimeout --teardownTimeout --slowTestThreshold
        --workspace --configLoader --coverage.provider --coverage.reporter --coverage.reportsDirectory
        --attachmentsDir --cache.dir --exclude --sequence.seed --sequence.hooks --poolOptions.threads.maxThreads
        --poolOptions.forks.maxForks --execArgv --diff --snapshotSerializers --vmMemoryLimit
    """),
    perhaps=_words("""
        --coverage --silent --api --ui --open --inspect --inspectBrk --typecheck --browser -u --update
        --printConsoleTrace --sequence.shuffle --mergeReports
    """),
    selects=_words("""
        -t --testNamePattern --changed --related --shard --project -w --watch --standalone
        --mergeReports --listTags --tagsFilter --list -h --help -v --version --staged --forceRerunTriggers
        --experimental.preParse
    """),
    spelling=camel,
)

JEST = Table(
    flags=_words("""
        --ci -i --runInBand -b --cache --clearCache --clearMocks --resetMocks --resetModules --restoreMocks
        --coverage --collectCoverage --color --colors --debug --detectLeaks --detectOpenHandles
        --errorOnDeprecated -e --expand --forceExit --injectGlobals --json --logHeapUsage --noStackTrace
        --openHandlesTimeout --passWithNoTests --randomize --showSeed --silent --useStderr --verbose
        --waitNextEventLoopTurnForUnhandledRejectionEvents --watchman --workerThreads --testLocationInResults
        --automock --haste --notify -u --updateSnapshot
    """),
    values=_words("""
        -c --config --rootDir -w --maxWorkers --maxConcurrency --testTimeout --testEnvironment --env
        --testEnvironmentOptions --outputFile --cacheDirectory --coverageDirectory --coverageProvider --seed
        --globals --globalSetup --globalTeardown --preset --resolver --runner --testRunner
        --testResultsProcessor --testSequencer --transform --moduleNameMapper --prettierPath --notifyMode
        --workerIdleMemoryLimit --snapshotFormat --coverageThreshold
    """),
    perhaps=_words("""
        --bail
    """),
    many=_words("""
        --reporters --coverageReporters --collectCoverageFrom --coveragePathIgnorePatterns --setupFiles
        --setupFilesAfterEnv --moduleDirectories --moduleFileExtensions --modulePaths --snapshotSerializers
        --roots --unmockedModulePathPatterns --transformIgnorePatterns --watchPathIgnorePatterns --projects
        --modulePathIgnorePatterns
    """),
    selects=_words("""
        -t --testNamePattern --testPathPattern --testPathPatterns --runTestsByPath --findRelatedTests -o
        --onlyChanged --changedSince --changedFilesWithAncestor --lastCommit -f --onlyFailures --shard
        --selectProjects --ignoreProjects --filter --testPathIgnorePatterns
        --testMatch --testRegex --listTests --watch --watchAll --showConfig --init -h --help --version --all
    """),
    spelling=camel,
)

GO = Table(
    flags=_words("""
        -a -n -x -v -race -msan -asan -cover -short -json -failfast -work -trimpath -linkshared -modcacherw
        -benchmem -fullpath -i
    """),
    values=_words("""
        -count -timeout -tags -p -parallel -cpu -covermode -coverpkg -coverprofile -ldflags -gcflags -asmflags
        -gccgoflags -mod -modfile -vet -exec -o -outputdir -shuffle -bench -benchtime -blockprofile
        -blockprofilerate -cpuprofile -memprofile -memprofilerate -mutexprofile -mutexprofilefraction -trace
        -buildmode -buildvcs -compiler -installsuffix -overlay -pgo -pkgdir -toolexec
    """),
    selects=_words("-run -skip -list -fuzz -fuzztime -args -c -C -h -help"),
    spelling=single,
    clusters=False,
)

GOTESTSUM = Table(
    flags=_words("--no-color --hide-summary --raw-command --debug --no-summary --rerun-fails-abort-on-data-race -v"),
    values=_words("""
        -f --format --junitfile --jsonfile --jsonfile-timing-events --junitfile-testsuite-name
        --junitfile-testcase-classname --post-run-command --max-fails --format-icons --format-hide-empty-pkg
        --junitfile-project-name --junitfile-hide-empty-pkg
    """),
    perhaps=_words("--rerun-fails"),
    selects=_words("--packages --watch --watch-chdir --raw-command --rerun-fails-run-root-test tool help"),
)

CARGO = Table(
    flags=_words("""
        -q --quiet -v --verbose -r --release --no-fail-fast --all-features --no-default-features --locked
        --offline --frozen --workspace --all --keep-going --ignore-rust-version --future-incompat-report
        --unit-graph --all-targets --no-capture --nocapture
    """),
    values=_words("""
        -j --jobs -F --features --profile --target --target-dir --manifest-path --message-format --color
        --config -Z --lockfile-path --retries --test-threads --failure-output --success-output --status-level
        --final-status-level -P --no-tests --cargo-profile --build-jobs --tool-config-file --config-file
    """),
    perhaps=_words("--timings"),
    selects=_words("""
        -p --package --exclude --lib --bins --bin --tests --test --examples --example --benches --bench --doc
        --no-run -h --help -C -E --filter-expr --filterset --run-ignored --partition --skip --archive-file
        --list --ignore-default-filter
    """),
)

LIBTEST = Table(
    flags=_words("--nocapture --no-capture --show-output -q --quiet --exclude-should-panic --report-time"),
    values=_words("--test-threads --color --format -Z --logfile --shuffle-seed"),
    selects=_words("--ignored --include-ignored --skip --exact --list --bench --test -h --help"),
)
