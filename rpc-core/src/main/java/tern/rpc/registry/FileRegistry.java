package tern.rpc.registry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.PeriodicTask;
import tern.rpc.concurrent.DaemonThreads;

/**
 * A registry that is a file: {@code file:///etc/providers.json} or {@code file:///etc/providers.properties}. The
 * registry reads the file every second. Providers can register in a JSON file, but are not removed when their process
 * crashes. Intended for tests, for a single machine, and for lists written by another tool. Thread-safe.
 */
public final class FileRegistry implements Registry {

    /** Opens registries whose addresses have the scheme {@code file}. */
    public static final class Factory implements Registry.Factory {

        @Override
        public boolean accepts(String scheme) {
            return scheme.equals("file");
        }

        @Override
        public Registry open(RegistryUrl url) {
            return new FileRegistry(url, LOOK_EVERY, Clock.systemUTC());
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(FileRegistry.class);

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);
    private static final Duration LOCK_PAUSE = Duration.ofMillis(20);
    private static final int MAX_TRIES = 500;
    private static final int LOOKS_BETWEEN_TRIES = 5;

    private final RegistryUrl url;
    private final Path file;
    private final boolean json;
    private final Clock clock;
    private final Duration lookEvery;
    private final ScheduledThreadPoolExecutor thread;
    // The last publication that was started for each address.
    private final Map<String, FilePublication> newest = new ConcurrentHashMap<>();
    private final List<FileSource> sources = new CopyOnWriteArrayList<>();
    private boolean looking; // Only the registry's thread uses the field "looking".
    private FileState state = FileState.UNKNOWN; // Only the registry's thread uses the field "state".

    FileRegistry(RegistryUrl url, Duration lookEvery, Clock clock) {
        if (!url.hosts().isEmpty() || url.path().length() < 2) {
            throw new IllegalArgumentException(url + " names no file; expected file:///path/to/providers.json");
        }
        url.checkParameters(Set.of());
        this.url = url;
        this.file = Path.of(url.path());
        this.json = !url.path().endsWith(".properties");
        this.lookEvery = lookEvery;
        this.clock = clock;
        this.thread = new ScheduledThreadPoolExecutor(1, DaemonThreads.named("rpc-registry-file"));
    }

    @Override
    public RegistryUrl url() {
        return url;
    }

    @Override
    public List<InetSocketAddress> remoteAddresses() {
        return List.of();
    }

    @Override
    public Publication publish(Registration registration) {
        if (!json) {
            throw new IllegalArgumentException(url + " cannot be written; providers register in a file of JSON");
        }
        FilePublication publication = new FilePublication(this, registration);
        newest.put(publication.address(), publication);
        publication.start();
        return publication;
    }

    /** Returns whether another publication of the same address was started after the given publication. */
    boolean isReplaced(FilePublication publication) {
        return newest.get(publication.address()) != publication;
    }

    /** Runs a task after a pause, unless the registry is closed during the pause. */
    void later(Runnable task) {
        try {
            thread.schedule(task, lookEvery.toMillis() * LOOKS_BETWEEN_TRIES, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} is closed", url, e);
        }
    }

    @Override
    public FileSource source(Subscription subscription) {
        return new FileSource(this, subscription, clock);
    }

    void start(FileSource source) {
        execute(() -> {
            sources.add(source);
            if (!looking) {
                looking = true;
                thread.scheduleWithFixedDelay(
                        new PeriodicTask("The check of " + url, this::look),
                        lookEvery.toMillis(),
                        lookEvery.toMillis(),
                        TimeUnit.MILLISECONDS);
                look();
            } else {
                source.report(state);
            }
        });
    }

    void stop(FileSource source) {
        sources.remove(source);
    }

    private void execute(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("{} is closed", url, e);
        }
    }

    private void look() {
        try {
            FileState found = state.next(file, json);
            if (!found.problem().isEmpty() && !found.problem().equals(state.problem())) {
                LOG.warn("{} cannot be used: {}; the lists of providers stay as they are", url, found.problem());
            }
            List<String> problems = found.content().problems();
            if (!problems.isEmpty() && !problems.equals(state.content().problems())) {
                LOG.warn("{} is used only in part: {}", url, String.join("; ", problems));
            }
            state = found;
            sources.forEach(source -> source.report(found));
        } catch (RuntimeException e) {
            LOG.error("The file {} could not be checked for changes", url, e);
        }
    }

    /** Changes the file while holding a lock that all processes share. */
    CompletableFuture<ProviderDocument> change(UnaryOperator<ProviderDocument> change) {
        CompletableFuture<ProviderDocument> result = new CompletableFuture<>();
        execute(() -> change(change, result, 1));
        return result;
    }

    private void change(UnaryOperator<ProviderDocument> change, CompletableFuture<ProviderDocument> result, int tried) {
        try {
            ProviderDocument before = write(change);
            if (before != null) {
                result.complete(before);
                if (looking) {
                    look();
                }
            } else if (tried < MAX_TRIES && !thread.isShutdown()) {
                thread.schedule(() -> change(change, result, tried + 1), LOCK_PAUSE.toMillis(), TimeUnit.MILLISECONDS);
            } else {
                result.completeExceptionally(new IllegalStateException(file + " is not changed, because another process"
                        + " has held the lock of " + lockFile() + " for "
                        + LOCK_PAUSE.multipliedBy(MAX_TRIES).toSeconds()
                        + " s. Continue or end that process"));
            }
        } catch (IOException e) {
            result.completeExceptionally(new UncheckedIOException(unwritable(e), e));
        } catch (IllegalArgumentException e) {
            result.completeExceptionally(new IllegalStateException(
                    file + " is not changed, because " + e.getMessage() + ". Correct the file, or remove it", e));
        } catch (RuntimeException | Error e) { // the publication must be notified of every failure
            result.completeExceptionally(e);
        }
    }

    /** Returns the reason why the file cannot be written, and the recommended change. */
    private String unwritable(IOException failure) {
        Path directory = file.toAbsolutePath().getParent();
        if (directory != null && !Files.isDirectory(directory)) {
            return file + " cannot be written: " + directory
                    + " is not an existing directory. Create it, or correct rpc.server.registry";
        }
        return file + " cannot be written: " + FileText.reason(failure) + ". Allow this process to write " + file
                + " and further files in " + directory + ", or correct rpc.server.registry";
    }

    /** Returns the file that a write replaces. If the file is a symbolic link, returns the link's target. */
    private Path target() throws IOException {
        if (Files.exists(file)) {
            return file.toRealPath();
        }
        return Files.isSymbolicLink(file) ? file.resolveSibling(Files.readSymbolicLink(file)) : file;
    }

    /**
     * Returns the lock file of a registry file. The lock file is in the directory of the registry file, even if this
     * process uses a symbolic link. Other processes may use another link to the same registry file.
     */
    private static Path lockFile(Path target) {
        return target.resolveSibling(target.getFileName() + ".lock");
    }

    /** Returns the name of the lock file, for a message. */
    private Path lockFile() {
        try {
            return lockFile(target());
        } catch (IOException e) {
            return lockFile(file);
        }
    }

    /**
     * Changes the file. Does not wait for the lock, because a frozen process could hold the lock forever, and this
     * thread must also read the file.
     *
     * @return the content before the change; null if another process or registry holds the lock
     */
    private @Nullable ProviderDocument write(UnaryOperator<ProviderDocument> change) throws IOException {
        Path target = target();
        Path lockFile = lockFile(target);
        if (Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS)
                && !Files.isRegularFile(lockFile, LinkOption.NOFOLLOW_LINKS)) {
            // Opening a named pipe would block this thread forever.
            throw new IllegalArgumentException(lockFile + " is not a regular file");
        }
        try (FileChannel channel = FileChannel.open(
                        lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                FileLock lock = tryLock(channel)) {
            if (lock == null) {
                return null;
            }
            ProviderDocument before = ProviderDocument.parse(Files.exists(target) ? FileText.read(target) : "");
            ProviderDocument after = change.apply(before);
            if (!after.equals(before)) {
                Path next = target.resolveSibling(target.getFileName() + ".next");
                // A crashed process may have left this file. The file could also be a link to another file.
                Files.deleteIfExists(next);
                Files.write(next, after.json().getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE_NEW);
                if (Files.exists(target)) {
                    keepPermissions(target, next);
                }
                Files.move(next, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
            return before;
        }
    }

    /**
     * Gives the new file the permissions of the file that it replaces. Otherwise, consumers that run as other users
     * might lose access to the list, or unauthorized users might gain access.
     */
    private static void keepPermissions(Path from, Path to) throws IOException {
        PosixFileAttributeView permissions = Files.getFileAttributeView(to, PosixFileAttributeView.class);
        if (permissions == null) {
            return;
        }
        Set<PosixFilePermission> expected = Files.getPosixFilePermissions(from);
        // Some file systems do not allow permissions to be changed.
        if (!expected.equals(Files.getPosixFilePermissions(to))) {
            permissions.setPermissions(expected);
        }
    }

    /** Returns the lock; null if another process or another registry in this process holds the lock. */
    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    @Override
    public void close() {
        thread.shutdown();
    }
}
