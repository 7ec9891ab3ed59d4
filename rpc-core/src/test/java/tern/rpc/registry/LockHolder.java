package tern.rpc.registry;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A program that locks a file, prints a line, and keeps the lock until its standard input ends. */
final class LockHolder {

    private LockHolder() {}

    public static void main(String[] arguments) throws IOException {
        try (FileChannel channel =
                        FileChannel.open(Path.of(arguments[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            System.out.println("locked: " + lock.isValid());
            while (System.in.read() >= 0) {
                // The program reads its input only to wait for the end of the input.
            }
        }
    }
}
