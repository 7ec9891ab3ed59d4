package tern.rpc.registry;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tern.rpc.NanoClock;
import tern.rpc.SeldomWarning;
import tern.rpc.Thrown;
import tern.rpc.concurrent.DaemonThreads;
import tern.rpc.endpoint.EndpointSnapshot;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.endpoint.EndpointSource;
import tern.rpc.endpoint.Instance;
import tern.rpc.endpoint.Rules;

/**
 * Stores the last good list of another source, together with its rules, in a file. If the wrapped source fails before
 * its first list, or does not answer in time, this source reports the stored list, so that an application can start
 * without its registry. If the first list of the wrapped source is empty, this source first reports the stored list and
 * then the empty list. The stored providers therefore stay in use while they answer. Only the file's owner can read the
 * file, which contains no secrets. A separate thread writes the file, so that a slow or unreachable disk does not delay
 * the lists.
 */
public final class RememberedSource implements EndpointSource {

    private static final Logger LOG = LoggerFactory.getLogger(RememberedSource.class);

    private static final Duration BETWEEN_WARNINGS = Duration.ofMinutes(1);

    /** The JSON member that contains the texts of the rules. */
    private static final String RULES = "rules";

    /** The suffix of the name of an unfinished file. A finished file replaces the stored list. */
    private static final String UNFINISHED = ".next";

    private static final Pattern UNFINISHED_NAME = Pattern.compile("[\\w.]+-[0-9a-f]{16}\\.json\\d*\\.next");

    /** An unfinished file of at least this age probably belongs to a crashed process. */
    private static final Duration CRASHED_AFTER = Duration.ofMinutes(10);

    /** The directories from which this process has already removed the unfinished files of crashed processes. */
    private static final Set<Path> CLEANED = ConcurrentHashMap.newKeySet();

    private static final Set<PosixFilePermission> OWNER_ONLY =
            Set.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    /** Writes the files of all sources one after another. Uses a thread only while there is something to write. */
    private static final ThreadPoolExecutor WRITER = new ThreadPoolExecutor(
            1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), DaemonThreads.named("rpc-registry-cache"));

    static {
        WRITER.allowCoreThreadTimeOut(true);
    }

    private record Key(Object source, Path file) {}

    /** A list of providers with its rules. */
    private record Remembered(List<Instance> instances, Rules rules) {
        static final Remembered NOTHING = new Remembered(List.of(), Rules.NONE);

        boolean isEmpty() {
            return instances.isEmpty();
        }
    }

    private final EndpointSource source;
    private final Subscription subscription;
    private final Path file;
    private final Executor writer;
    private final SeldomWarning unreadable = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);
    private final SeldomWarning unwritable = new SeldomWarning(LOG, NanoClock.SYSTEM, BETWEEN_WARNINGS);
    // the newest list that the writer has not written yet; null if there is none
    private final AtomicReference<@Nullable Remembered> unwritten = new AtomicReference<>();
    // true while a task that reads the file is queued or running
    private final AtomicBoolean offering = new AtomicBoolean();
    private volatile @Nullable Remembered newest; // the list that was written last or will be written next
    private @Nullable Consumer<EndpointSnapshot> listener; // null before this source is started; guarded by this
    private boolean heard; // whether the wrapped source has reported a list; guarded by this
    private boolean offered; // whether the stored list has been reported; guarded by this
    // true if the wrapped source has reported anything, or if the stored list was reported
    private volatile boolean answered;

    private RememberedSource(EndpointSource source, Subscription subscription, Path file, Executor writer) {
        this.source = source;
        this.subscription = subscription;
        this.file = file;
        this.writer = writer;
    }

    /**
     * Wraps a source.
     *
     * @param directory the directory with one file for each registry and subscription; created if necessary
     */
    public static RememberedSource of(
            EndpointSource source, RegistryUrl registry, Subscription subscription, Path directory) {
        return of(source, registry, subscription, directory, WRITER);
    }

    /** @param writer runs the tasks that write the file, one at a time */
    static RememberedSource of(
            EndpointSource source, RegistryUrl registry, Subscription subscription, Path directory, Executor writer) {
        String name = subscription.service().interfaceName().replaceAll("[^\\w.]", "_");
        return new RememberedSource(
                source,
                subscription,
                directory.resolve(name + "-" + hash(registry + " " + subscription) + ".json"),
                writer);
    }

    /**
     * Returns a hash for the file name. The file name reveals no credentials, because the hashed text contains none.
     */
    private static String hash(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    @Override
    public void start(Consumer<EndpointSnapshot> receiver) {
        synchronized (this) {
            listener = receiver;
        }
        source.start(this::pass);
    }

    private synchronized void pass(EndpointSnapshot snapshot) {
        if (snapshot.state() != State.UNKNOWN || !snapshot.why().isEmpty()) {
            answered = true;
        }
        Consumer<EndpointSnapshot> receiver = listener;
        if (receiver != null) {
            offerBeforeEmptyList(snapshot, receiver);
            receiver.accept(remembering(snapshot));
        }
    }

    /**
     * Reports the stored list if the first list of the wrapped source is empty, for example because the registry has
     * lost its data. The empty list is reported after the stored list, so only stored providers that answer stay in
     * use.
     */
    private void offerBeforeEmptyList(EndpointSnapshot snapshot, Consumer<EndpointSnapshot> receiver) {
        if (snapshot.state() != State.EMPTY || heard) {
            return;
        }
        heard = true;
        Remembered remembered = offered ? Remembered.NOTHING : read();
        if (!remembered.isEmpty()) {
            receiver.accept(stale(remembered, snapshot.since(), source + " lists no provider")
                    .withRules(snapshot.rules()));
        }
    }

    /** Reports the stored list if the wrapped source has not reported anything yet. */
    private void offer() {
        if (answered) {
            return;
        }
        Remembered remembered = read();
        synchronized (this) {
            Consumer<EndpointSnapshot> receiver = listener;
            if (!answered && receiver != null && !remembered.isEmpty()) {
                answered = true;
                offered = true;
                receiver.accept(stale(remembered, Instant.now(), source + " has not answered yet"));
            }
        }
    }

    private EndpointSnapshot stale(Remembered remembered, Instant since, String why) {
        return EndpointSnapshot.stale(remembered.instances, since, why + "; the list is the one of " + file)
                .withRules(remembered.rules);
    }

    private EndpointSnapshot remembering(EndpointSnapshot snapshot) {
        if (snapshot.state() == State.FRESH) {
            heard = true;
            Remembered current = new Remembered(snapshot.instances(), snapshot.rules());
            if (!current.equals(newest)) {
                newest = current;
                writeLater(current);
            }
        } else if (snapshot.state() == State.UNKNOWN && !snapshot.why().isEmpty() && !heard) {
            Remembered remembered = read();
            if (!remembered.isEmpty()) {
                offered = true;
                return stale(remembered, snapshot.since(), snapshot.why());
            }
        }
        return snapshot;
    }

    private Remembered read() {
        try {
            if (!Files.exists(file)) {
                return Remembered.NOTHING;
            }
            String text = FileText.read(file);
            return new Remembered(ProviderFile.parse(text, true).providers(subscription), rules(text));
        } catch (IOException | IllegalArgumentException e) {
            // The number of warnings is limited, because each call that finds no provider can cause a read.
            unreadable.warn(() -> "The remembered list in " + file + " is ignored: " + e.getMessage());
            return Remembered.NOTHING;
        }
    }

    private Rules rules(String json) {
        try {
            List<String> texts = new ArrayList<>();
            if (JsonReader.readObject(json, ProviderFile.MAX_MEMBERS).get(RULES) instanceof List<?> stored) {
                stored.forEach(text -> texts.add(String.valueOf(text)));
            }
            return texts.isEmpty() ? Rules.NONE : source.rules(texts);
        } catch (RuntimeException | NoClassDefFoundError e) { // A library needed for reading rules may be missing.
            unreadable.warn(() -> "The remembered rules in " + file + " are ignored: " + Thrown.text(e));
            return Rules.NONE;
        }
    }

    /** Writes the list soon. If several lists arrive before the writer runs, only the newest list is written. */
    private void writeLater(Remembered current) {
        if (unwritten.getAndSet(current) == null) {
            writer.execute(() -> {
                Remembered next = unwritten.getAndSet(null);
                if (next != null) {
                    write(next);
                }
            });
        }
    }

    private void write(Remembered current) {
        ProviderFile content = new ProviderFile(Map.of(
                subscription.service().toString(),
                current.instances.stream()
                        .map(instance -> new ProviderFile.Provider("", instance))
                        .toList()));
        Path next = null;
        try {
            Files.createDirectories(file.getParent());
            removeUnfinished(file.toAbsolutePath().getParent());
            // Another process may write the same file at the same time, so each process first writes a separate file.
            next = Files.createTempFile(file.getParent(), file.getFileName().toString(), UNFINISHED, ownerOnly());
            Files.write(next, content.json(Map.of(RULES, current.rules.texts())).getBytes(StandardCharsets.UTF_8));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            newest = null; // Writing has failed. The list is forgotten, so that it is written if it arrives again.
            delete(next);
            unwritable.warn(() -> "The list of " + subscription.service() + " could not be remembered in " + file + ": "
                    + e + ". Check the directory in rpc.client.registry-cache");
        }
    }

    /**
     * Removes the unfinished files of processes that crashed while writing a list. Does this only once for each
     * directory.
     */
    private static void removeUnfinished(@Nullable Path directory) {
        if (directory == null || !CLEANED.add(directory)) {
            return;
        }
        Instant oldest = Instant.now().minus(CRASHED_AFTER);
        try (Stream<Path> files = Files.list(directory)) {
            files.filter(each -> UNFINISHED_NAME
                            .matcher(each.getFileName().toString())
                            .matches())
                    .filter(each -> isOlder(each, oldest))
                    .forEach(RememberedSource::delete);
        } catch (IOException | UncheckedIOException e) {
            LOG.debug("{} could not be listed", directory, e);
        }
    }

    private static boolean isOlder(Path unfinished, Instant oldest) {
        try {
            return Files.getLastModifiedTime(unfinished).toInstant().isBefore(oldest);
        } catch (IOException e) { // Another process may have removed the file.
            return false;
        }
    }

    private static void delete(@Nullable Path written) {
        try {
            if (written != null) {
                Files.deleteIfExists(written);
            }
        } catch (IOException e) {
            LOG.debug("{} could not be deleted", written, e);
        }
    }

    private FileAttribute<?>[] ownerOnly() {
        return file.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(OWNER_ONLY)}
                : new FileAttribute<?>[0];
    }

    @Override
    public void refresh() {
        source.refresh();
        // Each call that finds no provider runs this method. One read of the file at a time is sufficient.
        if (!answered && offering.compareAndSet(false, true)) {
            writer.execute(() -> {
                try {
                    offer();
                } finally {
                    offering.set(false);
                }
            });
        }
    }

    @Override
    public Object key() {
        return new Key(source.key(), file);
    }

    @Override
    public void close() {
        source.close();
    }

    @Override
    public String toString() {
        return source.toString();
    }
}
