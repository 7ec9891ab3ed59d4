package tern.rpc.transport;

import java.io.ByteArrayOutputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * Feeds invalid inputs to a decoder (promise R1 in docs/figures/promises.md). Each input is derived from valid inputs
 * by cutting, splicing, repeating and overwriting parts, and by inserting random bytes or tokens of the format. An
 * input's number determines its content. A failure message contains this number, and the {@code -Dtern.fuzz.input=}
 * option replays the input. Each decoder gets 100,000 inputs, or the number given in {@code -Dtern.fuzz=}.
 */
public final class Fuzz {

    @FunctionalInterface
    public interface Target {
        /** Accepts the input or throws a documented exception. Any other exception is a finding. */
        void feed(byte[] input) throws Exception;
    }

    private static final int EVERY_BUILD = 100_000;
    private static final long MAX_CPU_NANOS = 2_000_000_000;
    private static final int MAX_BYTES = 64 << 10;
    private static final int[] BOUNDARIES = {
        0, 1, -1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000, 0x0010_0000, 0x0080_0001
    };

    private final String codec;
    private final List<byte[]> honest;
    private final List<byte[]> pieces;

    /**
     * @param honest valid inputs
     * @param pieces tokens of the format: markers, names, numbers
     */
    public Fuzz(String codec, List<byte[]> honest, List<byte[]> pieces) {
        this.codec = codec;
        this.honest = List.copyOf(honest);
        this.pieces = List.copyOf(pieces);
    }

    public void run(Target target) {
        run(1, target);
    }

    /** @param parts the number of test runs among which a decoder's inputs are divided */
    public void run(int parts, Target target) {
        Integer one = Integer.getInteger("tern.fuzz.input");
        if (one != null) {
            feed(one, target);
            return;
        }
        int count = Integer.getInteger("tern.fuzz", EVERY_BUILD) / parts;
        for (int number = 0; number < count; number++) {
            feed(number, target);
        }
        System.out.println("R1 " + codec + ": " + count + " inputs, 0 crashes, 0 hangs, 0 leaks");
    }

    private void feed(int number, Target target) {
        byte[] input = input(number);
        try {
            Cost cost = Cost.of(() -> feed(input, target));
            if (cost.cpuNanos() > MAX_CPU_NANOS) {
                throw new AssertionError("took " + cost.cpuNanos() + " ns");
            }
        } catch (Throwable e) {
            throw new AssertionError(
                    codec + ", input " + number + " (replay with -Dtern.fuzz.input=" + number + "): "
                            + HexFormat.of().formatHex(input, 0, Math.min(input.length, 2_000)),
                    e);
        }
    }

    private static void feed(byte[] input, Target target) {
        try {
            target.feed(input);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the input with the given number. The first inputs are the valid inputs themselves. */
    public byte[] input(int number) {
        if (number < honest.size()) {
            return honest.get(number);
        }
        Random random = new Random(number);
        if (random.nextInt(20) == 0) {
            byte[] noise = new byte[random.nextInt(200)];
            random.nextBytes(noise);
            return noise;
        }
        byte[] bytes = any(honest, random).clone();
        for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
            bytes = changed(bytes, random);
        }
        return bytes;
    }

    private byte[] changed(byte[] bytes, Random random) {
        int at = random.nextInt(bytes.length + 1);
        int end = at + random.nextInt(Math.min(bytes.length - at, 64) + 1);
        return switch (random.nextInt(8)) {
            case 0 -> flipped(bytes, random);
            case 1 -> joined(bytes, 0, at, boundary(random), bytes, at, bytes.length);
            case 2 -> joined(bytes, 0, at, boundary(random), bytes, end, bytes.length);
            case 3 -> joined(bytes, 0, at, any(pieces, random), bytes, at, bytes.length);
            case 4 -> joined(bytes, 0, at, any(pieces, random), bytes, end, bytes.length);
            case 5 -> joined(bytes, 0, at, new byte[0], bytes, end, bytes.length);
            case 6 -> repeated(bytes, at, end, 1 + random.nextInt(30));
            default -> {
                byte[] other = any(honest, random);
                int from = random.nextInt(other.length + 1);
                yield joined(bytes, 0, at, new byte[0], other, from, other.length);
            }
        };
    }

    private static byte[] flipped(byte[] bytes, Random random) {
        byte[] changed = bytes.clone();
        for (int flips = 1 + random.nextInt(4); flips > 0 && changed.length > 0; flips--) {
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
        }
        return changed;
    }

    /** Returns a boundary value that is one to four bytes long. */
    private static byte[] boundary(Random random) {
        int value = BOUNDARIES[random.nextInt(BOUNDARIES.length)];
        byte[] bytes = new byte[1 + random.nextInt(4)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (value >> (8 * (bytes.length - 1 - i)));
        }
        return bytes;
    }

    private static byte[] repeated(byte[] bytes, int from, int to, int times) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(bytes, 0, from);
        for (int i = 0; i < times && all.size() < MAX_BYTES; i++) {
            all.write(bytes, from, to - from);
        }
        all.write(bytes, from, bytes.length - from);
        return all.toByteArray();
    }

    private static byte[] joined(byte[] first, int from, int to, byte[] middle, byte[] last, int lastFrom, int lastTo) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(first, from, to - from);
        all.writeBytes(middle);
        all.write(last, lastFrom, lastTo - lastFrom);
        byte[] bytes = all.toByteArray();
        return bytes.length <= MAX_BYTES ? bytes : java.util.Arrays.copyOf(bytes, MAX_BYTES);
    }

    private static byte[] any(List<byte[]> some, Random random) {
        return some.get(random.nextInt(some.size()));
    }
}
