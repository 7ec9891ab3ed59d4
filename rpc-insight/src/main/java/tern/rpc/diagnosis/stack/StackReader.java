package tern.rpc.diagnosis.stack;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Account;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;
import tern.rpc.pool.ApplicationFrames;

/** Determines from a thread's stack what the thread is doing or waiting for. */
public final class StackReader {

    /** A JDK method in which threads wait, and the kind of wait. */
    private record Place(String className, String method, Kind kind) {}

    private static final List<Place> PLACES = List.of(
            new Place("java.lang.Thread", "sleep", Kind.SLEEP),
            new Place("java.util.concurrent.TimeUnit", "sleep", Kind.SLEEP),
            new Place("java.util.concurrent.locks.ReentrantLock", "", Kind.LOCK),
            new Place("java.util.concurrent.locks.ReentrantReadWriteLock$ReadLock", "", Kind.LOCK),
            new Place("java.util.concurrent.locks.ReentrantReadWriteLock$WriteLock", "", Kind.LOCK),
            new Place("java.util.concurrent.locks.StampedLock", "", Kind.LOCK),
            new Place("java.util.concurrent.Semaphore", "", Kind.LOCK),
            new Place("java.net.Inet4AddressImpl", "", Kind.RESOLVER),
            new Place("java.net.Inet6AddressImpl", "", Kind.RESOLVER),
            new Place("java.net.InetAddress", "", Kind.RESOLVER),
            new Place("sun.nio.ch.FileDispatcherImpl", "", Kind.FILE),
            new Place("sun.nio.ch.UnixFileDispatcherImpl", "", Kind.FILE),
            new Place("sun.nio.ch.FileChannelImpl", "", Kind.FILE),
            new Place("sun.nio.fs.UnixNativeDispatcher", "", Kind.FILE),
            new Place("java.io.FileInputStream", "", Kind.FILE),
            new Place("java.io.FileOutputStream", "", Kind.FILE),
            new Place("java.io.RandomAccessFile", "", Kind.FILE),
            new Place("java.io.FileDescriptor", "", Kind.FILE),
            new Place("java.io.UnixFileSystem", "", Kind.FILE),
            new Place("sun.nio.ch.SocketDispatcher", "", Kind.SOCKET),
            new Place("sun.nio.ch.NioSocketImpl", "", Kind.SOCKET),
            new Place("sun.nio.ch.SocketChannelImpl", "", Kind.SOCKET),
            new Place("sun.nio.ch.Net", "", Kind.SOCKET),
            new Place("java.net.SocketInputStream", "", Kind.SOCKET),
            new Place("java.lang.ClassLoader", "loadClass", Kind.CLASS_LOADING),
            new Place("java.lang.Class", "forName", Kind.CLASS_LOADING));

    /**
     * If an operation is known only from stacks and not from ledgers, its name consists of this prefix and the code
     * that calls the operation.
     */
    public static final String CALLED = "called in ";

    /**
     * If the owner of a lock is unknown, the name of the wait consists of the lock, this text and the waiting stack
     * frame.
     */
    public static final String WANTED = " wanted in ";

    /**
     * If the owner of a lock no longer runs application code, the name of the wait consists of the lock, this text,
     * {@link #WANTED} and the waiting stack frame.
     */
    public static final String NEVER_RELEASED = " never released";

    /** The name prefixes of the methods that release the carrier thread of a virtual thread. */
    private static final List<String> YIELDING = List.of("park", "yield", "tryYield", "sleep");

    /** Matches the methods by which the JVM or the application loads a class. */
    private static final Pattern LOADS = Pattern.compile(".*\\.(loadClass|forName|findClass|defineClass\\d?)");

    private static final String MAP = "java.util.concurrent.ConcurrentHashMap";
    private static final String INITIALIZER = "<clinit>";
    private static final int MAX_PATH = 12;

    private StackReader() {}

    /** Returns the thread's activity or wait. A thread that does not wait counts as computing. */
    public static Part read(ThreadSnapshot thread) {
        String initialized = initialized(thread);
        if (initialized != null) {
            return new Part(Kind.CLASS_INITIALIZATION, initialized);
        }
        Part caller = CallerWaits.of(thread);
        if (caller != null) {
            return caller;
        }
        String at = place(thread);
        if (waitsForCarrier(thread)) {
            return Part.of(Kind.CARRIER);
        }
        // Host name lookups are recognized before locks, because a thread that looks up a name may wait for the lock of
        // another lookup of the same name.
        if (isResolver(thread)) {
            return new Part(Kind.RESOLVER, at);
        }
        Part work = LibraryWork.of(thread, at);
        if (work != null) {
            return work;
        }
        Part owners = JdkLocks.workOfOwner(thread);
        if (owners != null) {
            return owners;
        }
        if (thread.state() == Thread.State.BLOCKED) {
            String type = thread.lock() == null ? JdkLocks.taker(thread) : thread.lock();
            return new Part(Kind.LOCK, lock(thread, "monitor of " + monitor(type), at));
        }
        if (Libraries.waitsForDatabaseConnection(thread)) {
            return Account.part(Phase.JDBC_CONNECTION, "");
        }
        Part held = LibraryWaits.of(thread, at);
        if (held != null) {
            return held;
        }
        Kind library = Libraries.of(thread);
        if (library != null && Libraries.pausesIn(library, thread)) {
            return new Part(Kind.SLEEP, at);
        }
        if (library != null && (!thread.computes() || Libraries.runsStatement(thread)) && !isResolver(thread)) {
            boolean opens = library == Kind.SQL && NewConnections.isOpeningWithoutPool(thread, Libraries::isPool);
            String name = CALLED + at + (opens ? NewConnections.OPENED : "");
            return new Part(library, library == Kind.SOCKET ? at : name);
        }
        if (parksForATime(thread)) {
            return new Part(Kind.SLEEP, at);
        }
        Part fileLock = FileLocks.of(thread, at);
        if (fileLock != null) {
            return fileLock;
        }
        for (Place known : PLACES) {
            if (thread.waitsIn(known.className, known.method)) {
                return part(known, thread, at);
            }
        }
        if (thread.state() == Thread.State.RUNNABLE) {
            return new Part(Kind.COMPUTING, at);
        }
        if (thread.owner() != null) {
            return new Part(Kind.LOCK, lock(thread, JdkLocks.name(thread, ThreadSnapshot.simple(thread.lock())), at));
        }
        return new Part(Kind.RESULT, at);
    }

    /**
     * Returns whether code outside the JDK parks the thread for a limited time, as rate limiters do. JDK locks, queues
     * and futures park threads in JDK frames.
     */
    private static boolean parksForATime(ThreadSnapshot thread) {
        boolean parked = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals("java.util.concurrent.locks.LockSupport")) {
                String method = frame.getMethodName();
                parked = method.equals("parkNanos") || method.equals("parkUntil");
            } else if (!type.endsWith(".misc.Unsafe") && !isVirtualThreads(type)) {
                return parked && !ThreadSnapshot.isPlatform(type);
            }
        }
        return false;
    }

    /**
     * Returns whether a virtual thread is ready to run and waits for a carrier thread, because all carrier threads are
     * busy. A virtual thread without a carrier thread is RUNNABLE, and its innermost frame still shows where it stopped
     * running. Since Java 24, this frame may also be application code that waited for a monitor.
     */
    public static boolean waitsForCarrier(ThreadSnapshot thread) {
        if (thread.carrier() == ThreadSnapshot.Carrier.AWAITED) {
            return true;
        }
        if (thread.state() != Thread.State.RUNNABLE || thread.frames().length == 0) {
            return false;
        }
        StackTraceElement innermost = thread.frames()[0];
        return isVirtualThreads(innermost.getClassName())
                && YIELDING.stream().anyMatch(innermost.getMethodName()::startsWith);
    }

    /** Returns whether the class belongs to the JDK's implementation of virtual threads. */
    private static boolean isVirtualThreads(String type) {
        return type.equals("java.lang.VirtualThread")
                || type.startsWith("java.lang.System$")
                || type.startsWith("jdk.internal.vm.")
                || type.equals("jdk.internal.misc.VirtualThreads");
    }

    /** Returns whether the thread looks up a host's address. The library that started the lookup does not matter. */
    static boolean isResolver(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals("java.net.InetAddress")
                    || type.startsWith("java.net.InetAddress$")
                    || type.startsWith("java.net.Inet4AddressImpl")
                    || type.startsWith("java.net.Inet6AddressImpl")) {
                return true;
            }
            if (application.test(type)) {
                return false;
            }
        }
        return false;
    }

    /**
     * Returns whether the thread is waiting for a connection from the pool of an Apache HTTP client. Tern measures this
     * wait itself only in clients that Spring Boot creates.
     */
    public static boolean waitsForHttpConnection(ThreadSnapshot thread) {
        if (thread.computes()) {
            return false;
        }
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.startsWith("org.apache.hc.core5.pool.") || type.startsWith("org.apache.http.pool.")) {
                return true;
            }
            if (application.test(type)) {
                return false;
            }
        }
        return false;
    }

    /**
     * Returns whether the thread is waiting for an answer that a thread of the common pool must pass on. The
     * asynchronous methods of the JDK's HTTP client complete their futures in the common pool, and Spring's request
     * factory for this client waits for such a future.
     */
    public static boolean awaitsCommonPool(ThreadSnapshot thread) {
        boolean awaitsFuture = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            awaitsFuture |= type.equals("java.util.concurrent.CompletableFuture");
            if (type.startsWith("jdk.internal.net.http.")) {
                // HttpClient.send waits for a future that a thread of the client completes, and not a thread of the
                // common pool.
                return false;
            }
            if (type.endsWith(".JdkClientHttpRequest")) {
                return awaitsFuture;
            }
        }
        return false;
    }

    /** Returns whether the thread itself runs a task that it submitted to a full executor. */
    public static boolean runsRejectedTask(ThreadSnapshot thread) {
        for (StackTraceElement frame : thread.frames()) {
            if (frame.getClassName().endsWith("CallerRunsPolicy")) {
                return true;
            }
        }
        return false;
    }

    /** Returns the application's frames, innermost first, except frames that only forward the call. */
    public static List<StackTraceElement> path(ThreadSnapshot thread) {
        return ApplicationFrames.of(thread.frames()).all().stream()
                .limit(MAX_PATH)
                .toList();
    }

    private static Part part(Place known, ThreadSnapshot thread, String at) {
        if (known.kind == Kind.LOCK) {
            return new Part(Kind.LOCK, lock(thread, JdkLocks.name(thread, ThreadSnapshot.simple(known.className)), at));
        }
        boolean waits = thread.state() != Thread.State.RUNNABLE || thread.isInNative();
        boolean isMeant = known.kind == Kind.CLASS_LOADING ? loadsItself(thread) : waits;
        return new Part(isMeant ? known.kind : Kind.COMPUTING, at);
    }

    /**
     * Returns whether the thread waits for a class, or loads it because of the application's own code. Returns false if
     * a method that the application calls loads the class, such as the factory of a parser, a format or a mapper. The
     * name of this method is more informative than the class lookup, which the method repeats in each call.
     */
    private static boolean loadsItself(ThreadSnapshot thread) {
        String called = thread.state() == Thread.State.RUNNABLE ? CalledMethods.of(thread) : null;
        return called == null || LOADS.matcher(called).matches();
    }

    /**
     * Returns the last lock in the chain of lock owners, with its holder. All threads of the chain wait until that
     * holder releases the lock.
     */
    private static String lock(ThreadSnapshot thread, String lock, String at) {
        ThreadSnapshot owner = lastOwner(thread);
        if (owner == null) {
            return lock + WANTED + at;
        }
        if (thread.isDeadlocked()) {
            return lock + " in a deadlock with " + place(owner);
        }
        ThreadSnapshot waiter = lastWaiter(thread);
        String last = waiter.id() == thread.id()
                ? lock
                : waiter.state() == Thread.State.BLOCKED
                        ? "monitor of " + monitor(waiter.lock())
                        : ThreadSnapshot.simple(waiter.lock());
        List<StackTraceElement> path = holderPath(thread);
        if (path.isEmpty() && JdkLocks.isLeftBehind(waiter, owner)) {
            return last + NEVER_RELEASED + WANTED + place(waiter);
        }
        if (path.isEmpty() && waiter.state() == Thread.State.BLOCKED && JdkLocks.isIdle(owner)) {
            // The owner has released the monitor in the meantime, because the stacks are read one after another.
            return last + WANTED + place(waiter);
        }
        return last + " held in " + (path.isEmpty() ? place(owner) : ApplicationCode.method(path.get(0)));
    }

    /** Returns the last waiting thread in the chain of lock owners. */
    private static ThreadSnapshot lastWaiter(ThreadSnapshot thread) {
        ThreadSnapshot waiter = thread;
        for (ThreadSnapshot owner = thread.owner(); owner != null && owner.owner() != null; owner = owner.owner()) {
            waiter = owner;
        }
        return waiter;
    }

    /**
     * Returns the frames of the last owner in the chain of lock owners, starting at the frame that holds the lock. For
     * a monitor, this is the frame that entered the monitor. If the frame is unknown, the result starts at the method
     * in which the waiting thread requests the lock. If the owner does not run this method, the result starts at a
     * frame of the same class, or else at the application's innermost frame.
     */
    public static List<StackTraceElement> holderPath(ThreadSnapshot thread) {
        ThreadSnapshot owner = lastOwner(thread);
        if (owner == null) {
            return path(thread);
        }
        if (owner.holdsAt() >= 0) {
            return pathFrom(owner, owner.holdsAt());
        }
        List<StackTraceElement> all = path(owner);
        StackTraceElement wanted = first(lastWaiter(thread));
        for (int i = 0; wanted != null && i < all.size(); i++) {
            if (ApplicationCode.method(all.get(i)).equals(ApplicationCode.method(wanted))) {
                return all.subList(i, all.size());
            }
        }
        for (int i = 0; wanted != null && i < all.size(); i++) {
            if (all.get(i).getClassName().equals(wanted.getClassName())) {
                return all.subList(i, all.size());
            }
        }
        return all;
    }

    /**
     * Returns the application's frames, starting at the frame that entered a monitor and going outwards. If there is no
     * such frame, returns the application's outermost frame.
     */
    private static List<StackTraceElement> pathFrom(ThreadSnapshot owner, int entered) {
        ApplicationFrames application = ApplicationFrames.of(owner.frames());
        List<StackTraceElement> path = new ArrayList<>();
        StackTraceElement outermost = null;
        for (int i = 0; i < owner.frames().length && path.size() < MAX_PATH; i++) {
            StackTraceElement frame = owner.frames()[i];
            outermost = application.works(i) ? frame : outermost;
            if (i >= entered && (application.works(i) || (i == entered && application.owns(i)))) {
                path.add(frame);
            }
        }
        return path.isEmpty() && outermost != null ? List.of(outermost) : path;
    }

    /**
     * Returns the first line in another class that called the innermost line; null if there is none. A caller in
     * another source file is preferred: a nested class and its outer class often form one helper, and the caller of the
     * helper is more informative than the helper itself.
     *
     * @param path the frames of the application, innermost first
     */
    public static @Nullable StackTraceElement callerOf(StackTraceElement line, List<StackTraceElement> path) {
        StackTraceElement nested = null;
        for (StackTraceElement outer : path) {
            if (!topLevel(outer).equals(topLevel(line))) {
                return outer;
            }
            if (nested == null && !outer.getClassName().equals(line.getClassName())) {
                nested = outer;
            }
        }
        return nested;
    }

    private static String topLevel(StackTraceElement frame) {
        return frame.getClassName().split("\\$", 2)[0];
    }

    /** Returns the application's innermost frame, except frames that only forward the call; null if there is none. */
    public static @Nullable StackTraceElement first(ThreadSnapshot thread) {
        return ApplicationCode.first(thread.frames());
    }

    public static @Nullable ThreadSnapshot lastOwner(ThreadSnapshot thread) {
        ThreadSnapshot last = null;
        for (ThreadSnapshot owner = thread.owner(); owner != null; owner = owner.owner()) {
            last = owner;
        }
        return last;
    }

    /**
     * Returns the method of the application's innermost frame, except frames that only forward the call. If there is no
     * such frame, returns the name of the framework's work on the stack. If the stack contains no such work either,
     * returns the method of the innermost frame outside the JDK.
     */
    public static String place(ThreadSnapshot thread) {
        StackTraceElement own = ApplicationCode.first(thread.frames());
        if (own != null) {
            return ApplicationCode.method(own);
        }
        int work = FrameworkWork.indexIn(thread.frames());
        if (work >= 0) {
            return FrameworkWork.name(thread.frames()[work]);
        }
        for (StackTraceElement frame : thread.frames()) {
            if (!ThreadSnapshot.isPlatform(frame.getClassName())) {
                return ApplicationCode.method(frame);
            }
        }
        return thread.frames().length == 0 ? "thread " + thread.name() : ApplicationCode.method(thread.frames()[0]);
    }

    /**
     * Returns the simple name of the application class that the given thread initializes; null if there is none. If one
     * static initializer triggers a second one, returns the class whose initialization began first, because other
     * threads wait for that class.
     */
    public static @Nullable String initialized(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        String outermost = null;
        for (StackTraceElement frame : thread.frames()) {
            if (frame.getMethodName().equals(INITIALIZER) && application.test(frame.getClassName())) {
                outermost = frame.getClassName();
            }
        }
        return outermost == null ? null : ThreadSnapshot.simple(outermost);
    }

    /**
     * Returns the simple name of the class of a lock. Inside ConcurrentHashMap, several classes serve as locks, so all
     * of them get the name of the map.
     */
    private static String monitor(@Nullable String type) {
        return type != null && type.startsWith(MAP + "$") ? ThreadSnapshot.simple(MAP) : ThreadSnapshot.simple(type);
    }
}
