package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HintsTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Journal.append:18 (RandomAccessFile.writeByte)",
                "Journal.append:18 (RandomAccessFile.read)",
                "Journal.append:18 (FileOutputStream.write)",
                "Journal.append:18 (FileInputStream.read)"
            })
    void accessToAFileForEachValueIsToBeBuffered(String place) {
        assertThat(Hints.file(place)).contains("through a buffer");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Journal.append:18 (FileChannelImpl.force)", "Journal.append:18 (FileDescriptor.sync)"})
    void forceOfEachCallIsToBeShared(String place) {
        assertThat(Hints.file(place)).contains("write the file to disk (force) once for several calls");
    }

    @Test
    void virtualThreadsNeedNoPool() {
        assertThat(Hints.computing("Thread.start")).contains("create a pool of threads");
        assertThat(Hints.computing("Thread.startVirtualThread")).isEmpty();
        assertThat(Hints.isTelling("Thread.startVirtualThread")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Rates.of:18 (BufferedReader.readLine)",
                "Rates.of:18 (Files.readAllLines), called from Desk.quote:7",
                "Rates.of:18 (Scanner.nextLine)",
                "Rates.of:18 (BufferedInputStream.read)"
            })
    void contentOfAFileNeedNotBeReadInEachCall(String place) {
        assertThat(Hints.file(place)).contains("read it once and keep its content");
    }

    @Test
    void otherAccessHasNoHint() {
        assertThat(Hints.file("Journal.append:18 (BufferedWriter.write)")).isEmpty();
        assertThat(Hints.file("RandomAccessFileJournal.append:18")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "BigDecimal.divide, limit the precision",
        "BigInteger.pow, limit the precision",
        "String.format, use a StringBuilder",
        "Signature.verify, keep what was signed or checked",
        "HashMap.get, if threads share the map",
        "IllegalStateException.<init>, do not create exceptions"
    })
    void costlyMethodHasAdvice(String called, String advice) {
        assertThat(Hints.computing(called)).contains(advice);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SecretKeyFactory.generateSecret",
                "BCryptPasswordEncoder.matches",
                "SCryptPasswordEncoder.matches",
                "Argon2PasswordEncoder.encode",
                "Pbkdf2PasswordEncoder.matches",
                "DelegatingPasswordEncoder.matches"
            })
    void passwordChecksCannotKeepTheirResultForAllUsers(String called) {
        assertThat(Hints.computing(called)).contains("use a lower cost factor (rounds, iterations)");
    }

    @Test
    void codeThatWaitsForItsTurnMayLimitTheRateOfCalls() {
        assertThat(Hints.waiting("LockSupport.parkNanos")).contains("raise its limit");
        assertThat(Hints.waiting("LockSupport.park")).isEmpty();
    }
}
