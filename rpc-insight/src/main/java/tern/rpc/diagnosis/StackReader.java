package tern.rpc.diagnosis;

import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/** Finds the activity of a thread, or the thing that it waits for, by its stack. */
final class StackReader {

    /** A method of the platform in which threads wait, and the kind of this wait. */
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

    /** A library through which a thread waits for another process, identified by the prefix of its classes. */
    private record Library(String prefix, Kind kind) {}

    private static final List<Library> LIBRARIES = List.of(
            new Library("jdk.internal.net.http.", Kind.HTTP),
            new Library("sun.net.www.protocol.http", Kind.HTTP),
            new Library("okhttp3.", Kind.HTTP),
            new Library("org.apache.http.", Kind.HTTP),
            new Library("org.apache.hc.", Kind.HTTP),
            new Library("org.asynchttpclient.", Kind.HTTP),
            new Library("redis.clients.", Kind.REDIS),
            new Library("io.lettuce.", Kind.REDIS),
            new Library("org.redisson.", Kind.REDIS),
            new Library("io.grpc.stub.ClientCalls", Kind.RPC),
            new Library("org.apache.dubbo.", Kind.RPC),
            new Library("org.apache.thrift.", Kind.RPC),
            new Library("com.mongodb.", Kind.SQL),
            new Library("com.datastax.", Kind.SQL),
            new Library("org.h2.", Kind.SQL),
            new Library("com.mysql.", Kind.SQL),
            new Library("org.mariadb.", Kind.SQL),
            new Library("org.postgresql.", Kind.SQL),
            new Library("oracle.jdbc.", Kind.SQL),
            new Library("com.microsoft.sqlserver.", Kind.SQL));

    /** Prefix of the name of an operation that no ledger counts. The code that calls the operation follows. */
    static final String CALLED = "called in ";

    private static final int MAX_PATH = 12;

    private StackReader() {}

    /** The activity of the thread. It computes if it does not wait. */
    static Part read(ThreadLook thread) {
        String at = place(thread);
        if (thread.state() == Thread.State.BLOCKED) {
            return new Part(Kind.LOCK, lock(thread, "monitor of " + simple(thread.lock()), at));
        }
        Kind library = library(thread);
        if (library != null && !thread.computes() && !isResolver(thread)) {
            return new Part(library, CALLED + at);
        }
        if (parksForATime(thread)) {
            return new Part(Kind.SLEEP, at);
        }
        for (Place known : PLACES) {
            if (thread.waitsIn(known.className, known.method)) {
                return part(known, thread, at);
            }
        }
        if (thread.state() == Thread.State.RUNNABLE) {
            return new Part(isClassInitialization(thread) ? Kind.CLASS_LOADING : Kind.COMPUTING, at);
        }
        if (thread.owner() != null) {
            return new Part(Kind.LOCK, lock(thread, simple(thread.lock()), at));
        }
        return new Part(Kind.RESULT, at);
    }

    /**
     * Whether code outside the platform parks the thread for a time itself, as rate limiters do. Locks, queues and
     * results of the platform park in frames of their own.
     */
    private static boolean parksForATime(ThreadLook thread) {
        boolean parked = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals("java.util.concurrent.locks.LockSupport")) {
                String method = frame.getMethodName();
                parked = method.equals("parkNanos") || method.equals("parkUntil");
            } else if (!type.endsWith(".misc.Unsafe")) {
                return parked && !ThreadLook.isPlatform(type);
            }
        }
        return false;
    }

    /** The library that the innermost code of the application called; null if the library is not known. */
    private static @Nullable Kind library(ThreadLook thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (ApplicationCode.owns(type)) {
                return null;
            }
            for (Library library : LIBRARIES) {
                if (type.startsWith(library.prefix)) {
                    return library.kind;
                }
            }
        }
        return null;
    }

    /** Whether the thread looks up the address of a host, through any library. */
    static boolean isResolver(ThreadLook thread) {
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals("java.net.InetAddress")
                    || type.startsWith("java.net.Inet4AddressImpl")
                    || type.startsWith("java.net.Inet6AddressImpl")) {
                return true;
            }
            if (ApplicationCode.owns(type)) {
                return false;
            }
        }
        return false;
    }

    /** The frames of the application, the innermost first. */
    static List<StackTraceElement> path(ThreadLook thread) {
        return Arrays.stream(thread.frames())
                .filter(frame -> ApplicationCode.owns(frame.getClassName()))
                .limit(MAX_PATH)
                .toList();
    }

    /**
     * The method that the innermost frame of the application calls, as its simple class name and name; null if that
     * frame calls nothing, or is unknown.
     */
    static @Nullable String called(ThreadLook thread) {
        StackTraceElement outer = null;
        for (StackTraceElement frame : thread.frames()) {
            if (ApplicationCode.owns(frame.getClassName())) {
                return outer == null ? null : simple(outer.getClassName()) + "." + outer.getMethodName();
            }
            if (!isHidden(frame.getClassName())) {
                outer = frame;
            }
        }
        return null;
    }

    /** Frames between the application and a library that tell nothing: proxies, lambda forms, reflection. */
    private static boolean isHidden(String type) {
        return type.contains("$$")
                || type.contains("CGLIB")
                || type.startsWith("jdk.internal.reflect.")
                || type.startsWith("java.lang.reflect.")
                || type.startsWith("java.lang.invoke.")
                || type.startsWith("org.springframework.aop.")
                || type.startsWith("jdk.proxy")
                || type.startsWith("com.sun.proxy.");
    }

    private static Part part(Place known, ThreadLook thread, String at) {
        if (known.kind == Kind.LOCK) {
            return new Part(Kind.LOCK, lock(thread, simple(known.className), at));
        }
        boolean waits = thread.state() != Thread.State.RUNNABLE || thread.isInNative();
        return waits || known.kind == Kind.CLASS_LOADING ? new Part(known.kind, at) : new Part(Kind.COMPUTING, at);
    }

    private static boolean isClassInitialization(ThreadLook thread) {
        for (StackTraceElement frame : thread.frames()) {
            if (frame.getMethodName().equals("<clinit>")) {
                return true;
            }
            if (!ThreadLook.isPlatform(frame.getClassName())) {
                return false;
            }
        }
        return false;
    }

    /**
     * The lock and its holder at the end of the chain of owners, because all threads of the chain wait for that
     * holder's work.
     */
    private static String lock(ThreadLook thread, String lock, String at) {
        ThreadLook owner = lastOwner(thread);
        if (owner == null) {
            return lock + " wanted in " + at;
        }
        if (thread.isDeadlocked()) {
            return lock + " in a deadlock with " + place(owner);
        }
        ThreadLook waiter = lastWaiter(thread);
        String last = waiter.id() == thread.id()
                ? lock
                : (waiter.state() == Thread.State.BLOCKED ? "monitor of " : "") + simple(waiter.lock());
        List<StackTraceElement> path = holderPath(thread);
        return last + " held in " + (path.isEmpty() ? place(owner) : ApplicationCode.method(path.get(0)));
    }

    /** The last waiting thread of the chain. */
    private static ThreadLook lastWaiter(ThreadLook thread) {
        ThreadLook waiter = thread;
        for (ThreadLook owner = thread.owner(); owner != null && owner.owner() != null; owner = owner.owner()) {
            waiter = owner;
        }
        return waiter;
    }

    /**
     * The frames of the last owner, starting at the frame that holds the lock. This is the frame that entered the
     * monitor. If it is unknown, it is the frame in the method in which the other thread waits for the lock, or else
     * the innermost frame of the application.
     */
    static List<StackTraceElement> holderPath(ThreadLook thread) {
        ThreadLook owner = lastOwner(thread);
        if (owner == null) {
            return path(thread);
        }
        List<StackTraceElement> all = path(owner);
        if (owner.holdsAt() >= 0) {
            int inside = (int) Arrays.stream(owner.frames())
                    .limit(owner.holdsAt())
                    .filter(frame -> ApplicationCode.owns(frame.getClassName()))
                    .count();
            return all.subList(Math.min(inside, Math.max(0, all.size() - 1)), all.size());
        }
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

    /** The innermost frame of the application; null if there is none. */
    static @Nullable StackTraceElement first(ThreadLook thread) {
        return ApplicationCode.first(thread.frames());
    }

    static @Nullable ThreadLook lastOwner(ThreadLook thread) {
        ThreadLook last = null;
        for (ThreadLook owner = thread.owner(); owner != null; owner = owner.owner()) {
            last = owner;
        }
        return last;
    }

    /**
     * The method of the innermost frame of the application. If there is none, that of the innermost frame outside the
     * platform.
     */
    static String place(ThreadLook thread) {
        StackTraceElement own = ApplicationCode.first(thread.frames());
        if (own != null) {
            return ApplicationCode.method(own);
        }
        for (StackTraceElement frame : thread.frames()) {
            if (!ThreadLook.isPlatform(frame.getClassName())) {
                return ApplicationCode.method(frame);
            }
        }
        return thread.frames().length == 0 ? "thread " + thread.name() : ApplicationCode.method(thread.frames()[0]);
    }

    private static String simple(@Nullable String type) {
        if (type == null) {
            return "an object";
        }
        return type.substring(type.lastIndexOf('.') + 1).replace('$', '.');
    }
}
