package tern.rpc.console;

import java.security.SecureRandom;
import java.util.HexFormat;

/** Creates random ids as hexadecimal text. The ids cannot be guessed. */
final class RandomHex {

    private static final SecureRandom RANDOM = new SecureRandom();

    private RandomHex() {}

    /** @param bytes the number of random bytes; the text contains two characters for each */
    static String of(int bytes) {
        byte[] made = new byte[bytes];
        RANDOM.nextBytes(made);
        return HexFormat.of().formatHex(made);
    }
}
