package tern.rpc.diagnosis;

import java.util.List;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/** Finds what a thread does or waits for by its stack. */
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

    private StackReader() {}

    /** What the thread does; computing if it does not wait. */
    static Part read(ThreadLook thread) {
        String at = place(thread);
        if (thread.state() == Thread.State.BLOCKED) {
            return new Part(Kind.LOCK, lock(thread, "monitor of " + simple(thread.lock()), at));
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

    /** The lock and who holds it: the end of the chain of owners, where the work is done that all wait for. */
    private static String lock(ThreadLook thread, String lock, String at) {
        ThreadLook owner = lastOwner(thread);
        return owner == null ? lock + " wanted in " + at : lock + " held in " + place(owner);
    }

    static @Nullable ThreadLook lastOwner(ThreadLook thread) {
        ThreadLook last = null;
        for (ThreadLook owner = thread.owner(); owner != null; owner = owner.owner()) {
            last = owner;
        }
        return last;
    }

    /** The method of the innermost frame of the application; else of the innermost frame outside the platform. */
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

    /** The line in which the thread, or the last owner of the lock that it waits for, is in that method. */
    static @Nullable StackTraceElement line(ThreadLook thread) {
        ThreadLook owner = lastOwner(thread);
        return ApplicationCode.first((owner == null ? thread : owner).frames());
    }

    private static String simple(@Nullable String type) {
        if (type == null) {
            return "an object";
        }
        return type.substring(type.lastIndexOf('.') + 1).replace('$', '.');
    }
}
