package tern.rpc.load.sample;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Reads a stream at the rate of a slow disk, on a separate thread. */
final class SlowReader implements Runnable {

    private static final int PIECES_PER_SECOND = 50;

    private final InputStream from;
    private final Path to;
    private final int pieceBytes;

    private SlowReader(InputStream from, Path to, int bytesPerSecond) {
        this.from = from;
        this.to = to;
        this.pieceBytes = bytesPerSecond / PIECES_PER_SECOND;
    }

    static void start(InputStream from, Path to, int bytesPerSecond) {
        Thread thread = new Thread(new SlowReader(from, to, bytesPerSecond), "slow-log");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        long pieceNanos = TimeUnit.SECONDS.toNanos(1) / PIECES_PER_SECOND;
        try (InputStream in = from;
                OutputStream out = Files.newOutputStream(to)) {
            long next = System.nanoTime();
            byte[] piece = in.readNBytes(pieceBytes);
            while (piece.length > 0) {
                out.write(piece);
                // After a pause in the process's output, the stream must not be read at a higher rate to make up for
                // the pause.
                next = Math.max(next + pieceNanos, System.nanoTime() - pieceNanos);
                TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
                piece = in.readNBytes(pieceBytes);
            }
        } catch (IOException e) {
            return; // The output can no longer be read, because the process has ended.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
