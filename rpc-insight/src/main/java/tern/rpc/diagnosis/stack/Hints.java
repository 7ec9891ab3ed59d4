package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Advice about JDK and library methods that often slow down calls. */
public final class Hints {

    private static final String REGEX =
            "use a pattern without nested or adjacent quantifiers, compiled once, or limit the text's length";
    private static final String LIST = "use a HashSet or HashMap instead of a search through a list";
    private static final String CONCATENATION =
            "build the text once before the loop, or append to a StringBuilder; if the loop walks through a"
                    + " collection that grows, limit its size or look its elements up in a map";
    private static final String JSON = "use fewer or smaller objects in this document, or keep the result";
    private static final String SERIALIZATION =
            "Java serialization is slow: share objects that nobody changes, copy the needed fields by hand, or keep the"
                    + " result";
    private static final String CLASSES =
            "create this class or proxy once and keep it: the JVM loads, checks and compiles each new class again";
    private static final String EXCEPTION = "do not create exceptions or stack traces in the normal flow";
    private static final String RANDOM =
            "set -Djava.security.egd=file:/dev/./urandom: the random numbers of the system block or are slow";
    private static final String RATE = "raise the limit of this rate limiter, or refuse calls instead of waiting";

    private static final String TURN =
            "if this code limits the rate of calls, raise its limit, or refuse calls instead of waiting";

    private static final String SIGNAL = "wait for a signal (a lock's condition, a future) instead of a loop";
    private static final String FLUSH =
            "Hibernate compares all entities of the session: use a read-only transaction if nothing is changed, load"
                    + " fewer entities, or call flush and clear in between";
    private static final String QUERY =
            "let Hibernate keep the parsed query: use parameters instead of values in its text, pad lists"
                    + " (hibernate.query.in_clause_parameter_padding), or raise hibernate.query.plan_cache_max_size";
    private static final String PATTERN = "compile the pattern once and keep it in a static field";
    private static final String SHARED_RANDOM = "use ThreadLocalRandom instead of a Random that all threads share";
    private static final String COMPRESSION =
            "use a lower compression level or smaller data, keep the result, or do not compress answers"
                    + " within a fast network (server.compression.enabled)";
    private static final String DIRECT =
            "release or reuse direct buffers, or raise -XX:MaxDirectMemorySize: if a buffer does not fit, the JVM"
                    + " runs the collector first";
    private static final String CONTENT = "if this reads a file that seldom changes, read it once and keep its content";
    private static final String NUMBERS =
            "limit the precision of numbers (MathContext, setScale after each step), or use long instead";
    private static final String FORMAT =
            "concatenate strings or use a StringBuilder: a format is parsed again for each text";
    private static final String SIGNATURE = "keep what was signed or checked, such as a token, while it is valid";
    private static final String KEEP = "create this object once and keep it";
    private static final String MAPPER = "create the mapper once and keep it: a new mapper examines all classes again";
    private static final String PASSWORD =
            "use a lower cost factor (rounds, iterations), check the password once per session, or limit the number of"
                    + " concurrent checks";
    private static final String LOOKUP = "look the method up once and keep it, or call it without reflection";
    private static final String CONNECT = "create the client once and keep it: a new client opens new connections";
    private static final String THREADS =
            "create a pool of threads once, with enough core threads, instead of new threads for each call";
    private static final String CONSOLE =
            "use a logger with an asynchronous appender, or write fewer lines per call: the reader of this output is"
                    + " slow";

    /** Matches methods that wait until a file's content has been written to disk. */
    private static final Pattern FORCES = Pattern.compile("\\((FileChannel(Impl)?\\.force|FileDescriptor\\.sync)");

    /** Matches methods that read the content of files. */
    private static final Pattern READS = Pattern.compile(
            "\\((Buffered|InputStream|File)Reader\\.|\\(Files\\.(read|lines|newBufferedReader|newInputStream)"
                    + "|\\((File|Buffered)InputStream\\.read|\\(Scanner\\.|\\(Properties\\.load");

    /** Matches methods that access the file separately for each value, without a buffer. */
    private static final Pattern UNBUFFERED =
            Pattern.compile("\\(RandomAccessFile\\.(write|read)|\\(File(Out|In)putStream\\.(write|read)\\b");

    /**
     * Matches the end of a class name. Without this pattern, an application class whose name begins with the name of a
     * JDK class would match, too.
     */
    private static final String END = "(?![\\w.$])";

    /** Matches the names of the locks that synchronized collections use. */
    private static final Pattern SYNCHRONIZED = Pattern.compile(
            "(?:monitor|lock) of (?:Hashtable|Properties|Vector|Stack|Collections\\.Synchronized\\w+)" + END);

    private static final Pattern BUFFERS = Pattern.compile("(?:monitor|lock) of StringBuffer" + END);

    /** Matches the names of the locks that random number generators use. */
    private static final Pattern GENERATORS =
            Pattern.compile("(?:monitor|lock) of (?:SecureRandom|DRBG|HashDrbg|HmacDrbg|CtrDrbg)" + END);

    /** Matches the names of the locks that date and number formats use. These formats are not thread-safe. */
    private static final Pattern FORMATS =
            Pattern.compile("(?:monitor|lock) of (?:SimpleDateFormat|DateFormat|DecimalFormat|NumberFormat)" + END);

    /** Matches classes of rate limiters, and the aspects that call them for annotated methods. */
    private static final Pattern LIMITERS = Pattern.compile("RateLimit(er|ing)|Bucket\\.");

    /**
     * @param called a prefix of the called method's name, beginning with the simple class name
     * @param change the recommended change
     */
    private record Hint(String called, String change) {
        boolean fits(String method) {
            return method.startsWith(called) && !method.equals(VIRTUAL);
        }
    }

    /**
     * The method that starts a virtual thread. The hint for {@code Thread.start} must not match this method, because
     * virtual threads are cheap and need no pool.
     */
    private static final String VIRTUAL = "Thread.startVirtualThread";

    /** The advice for application code that spends processor time in the listed methods. */
    private static final List<Hint> COMPUTING = List.of(
            new Hint("Pattern.compile", PATTERN),
            new Hint("Matcher.", REGEX),
            new Hint("Pattern.", REGEX),
            new Hint("String.matches", REGEX),
            new Hint("String.replaceAll", REGEX),
            new Hint("ArrayList.contains", LIST),
            new Hint("ArrayList.indexOf", LIST),
            new Hint("ArrayList.remove", LIST),
            new Hint("LinkedList.", LIST),
            new Hint(
                    "HashMap.",
                    "use keys that are Comparable and whose hashCode differs for different keys; if threads share the"
                            + " map, use a ConcurrentHashMap"),
            new Hint("BigDecimal.", NUMBERS),
            new Hint("BigInteger.", NUMBERS),
            new Hint("String.format", FORMAT),
            new Hint("Formatter.", FORMAT),
            new Hint("Signature.", SIGNATURE),
            new Hint("StringConcatHelper.", CONCATENATION),
            new Hint("ObjectMapper.", JSON),
            new Hint("ObjectReader.", JSON),
            new Hint("ObjectWriter.", JSON),
            new Hint("ObjectInputStream.", SERIALIZATION),
            new Hint("ObjectOutputStream.", SERIALIZATION),
            new Hint("SerializationUtils.", SERIALIZATION),
            new Hint("ClassLoader.defineClass", CLASSES),
            new Hint("URLClassLoader.<init>", CLASSES),
            new Hint("JavaCompiler.", CLASSES),
            new Hint("Random.", SHARED_RANDOM),
            new Hint("Math.random", SHARED_RANDOM),
            new Hint(
                    "ThreadLocal.",
                    "remove the values of thread locals after their use: many of them make each access slow"),
            new Hint("CopyOnWrite", "use another collection: each change of this one copies all elements"),
            new Hint(
                    "ConcurrentLinkedQueue.size",
                    "count the elements separately: this method walks through all of them"),
            new Hint(
                    "ConcurrentLinkedDeque.size",
                    "count the elements separately: this method walks through all of them"),
            new Hint("ConcurrentHashMap.containsValue", LIST),
            new Hint("PriorityQueue.remove", LIST),
            new Hint("PriorityQueue.contains", LIST),
            new Hint("String.intern", "use a map of the application instead of the JVM's table of strings"),
            new Hint("BufferedReader.", CONTENT),
            new Hint("InputStreamReader.", CONTENT),
            new Hint("FileReader.", CONTENT),
            new Hint("FileInputStream.", CONTENT),
            new Hint("Files.", CONTENT),
            new Hint("Scanner.", CONTENT),
            new Hint("Properties.load", CONTENT),
            new Hint("ZipFile.<init>", KEEP),
            new Hint("JarFile.<init>", KEEP),
            new Hint("ResourceBundle.getBundle", KEEP),
            new Hint("NetworkInterface.", KEEP),
            new Hint("ProcessBuilder.", "do not start another program within a call"),
            new Hint("Runtime.exec", "do not start another program within a call"),
            new Hint("System.gc", "do not call System.gc()"),
            new Hint("ByteBuffer.allocateDirect", DIRECT),
            new Hint("Thread.onSpinWait", SIGNAL),
            new Hint("Thread.yield", SIGNAL),
            new Hint("Throwable.", EXCEPTION),
            new Hint(
                    "SecretKeyFactory.",
                    "if this checks a password, " + PASSWORD + "; otherwise derive the key once and keep it"),
            new Hint("KeyPairGenerator.", "create the key once and keep it"),
            new Hint("SSLContext.", "create the context once and keep it"),
            new Hint("Class.getMethod", LOOKUP),
            new Hint("Class.getDeclaredMethod", LOOKUP),
            new Hint("MethodHandles.", LOOKUP),
            new Hint("SimpleDateFormat.", "create a DateTimeFormatter once and keep it"),
            new Hint("DateTimeFormatter.ofPattern", KEEP),
            new Hint("DateTimeFormatterBuilder.", KEEP),
            new Hint("KeyFactory.", "create the key once and keep it"),
            new Hint("Thread.getStackTrace", EXCEPTION));

    /**
     * The advice for methods that create expensive objects or do other work that is unnecessary in each call. The
     * advice applies even if the application calls such a method indirectly.
     */
    private static final List<Hint> TELLING = List.of(
            new Hint("Thread.start", THREADS),
            new Hint("GZIPOutputStream.", COMPRESSION),
            new Hint("Deflater.", COMPRESSION),
            new Hint("BCrypt", PASSWORD),
            new Hint("SCrypt", PASSWORD),
            new Hint("Argon2", PASSWORD),
            new Hint("Pbkdf2", PASSWORD),
            new Hint("DelegatingPasswordEncoder.", PASSWORD),
            new Hint("JAXBContext.newInstance", KEEP),
            new Hint("JAXBContextImpl.", KEEP),
            new Hint("DocumentBuilderFactory.newInstance", KEEP),
            new Hint("SAXParserFactory.newInstance", KEEP),
            new Hint("TransformerFactory.newInstance", KEEP),
            new Hint("XPathFactory.newInstance", KEEP),
            new Hint("XMLInputFactory.newInstance", KEEP),
            new Hint("XMLInputFactory.newFactory", KEEP),
            new Hint("SchemaFactory.newSchema", KEEP),
            new Hint("SchemaFactory.newInstance", KEEP),
            new Hint("Proxy.newProxyInstance", CLASSES),
            new Hint("Enhancer.create", CLASSES),
            new Hint("DynamicType.", CLASSES),
            new Hint("GroovyShell.", "compile the script once and keep it"),
            new Hint("GroovyClassLoader.parseClass", "compile the script once and keep it"),
            new Hint("InternalSpelExpressionParser.", "parse the expression once and keep it"),
            new Hint("TemplateAwareExpressionParser.", "parse the expression once and keep it"),
            new Hint("ScriptEngineManager.", "create the engine once, compile the script once, and keep both"),
            new Hint("Validation.buildDefaultValidatorFactory", KEEP),
            new Hint("ModelMapper.<init>", KEEP),
            new Hint("KeyStore.load", KEEP),
            new Hint("SSLContextImpl.", "create the context once and keep it"),
            new Hint("TrustManagerFactory.init", "create the context once and keep it"),
            new Hint("AbstractFlushingEventListener.", FLUSH),
            new Hint("StandardHqlTranslator.", QUERY),
            new Hint("DefaultFlushEntityEventListener.", FLUSH),
            new Hint("DriverManager.getConnection", "use a connection pool instead of a new connection for each use"),
            new Hint("HttpClient.newHttpClient", CONNECT),
            new Hint("HttpClientBuilderImpl.build", CONNECT),
            new Hint("HttpClientBuilder.build", CONNECT),
            new Hint("OkHttpClient.<init>", CONNECT),
            new Hint("ObjectMapper.<init>", MAPPER),
            new Hint("JsonMapper.<init>", MAPPER),
            new Hint("BeanSerializerFactory.", MAPPER),
            new Hint("BeanDeserializerFactory.", MAPPER),
            new Hint("POJOPropertiesCollector.", MAPPER),
            new Hint("BasicClassIntrospector.", MAPPER),
            new Hint("AnnotatedClassResolver.", MAPPER),
            new Hint("ReflectiveTypeAdapterFactory.create", MAPPER),
            new Hint("ReflectiveTypeAdapterFactory.getBoundFields", MAPPER));

    /** The advice for application code that waits in the listed methods. */
    private static final List<Hint> WAITING = List.of(
            new Hint("LockSupport.parkNanos", TURN),
            new Hint("LockSupport.parkUntil", TURN),
            new Hint("ByteBuffer.allocateDirect", DIRECT),
            new Hint("SecureRandom.", RANDOM),
            new Hint("UUID.randomUUID", RANDOM),
            new Hint("KeyGenerator.", RANDOM),
            new Hint("KeyPairGenerator.", RANDOM),
            new Hint("PrintStream.", CONSOLE),
            new Hint("Logger.", CONSOLE),
            new Hint("Process.", "do not wait for another program within a call"),
            new Hint("ProcessImpl.", "do not wait for another program within a call"));

    /** Matches methods that wait until another thread gives a signal. */
    private static final Pattern SIGNALS = Pattern.compile(
            "(CountDownLatch|CyclicBarrier|Phaser|Object|ConditionObject|Condition)\\.(a?wait\\w*|arrive\\w*)");

    /** Matches methods that wait for a signal that may wake only one of several waiting threads. */
    private static final Pattern MONITORS = Pattern.compile("^(Object|ConditionObject|Condition)\\.");

    private Hints() {}

    /**
     * Returns the advice for code that spends processor time in the given method, preceded by a separator; an empty
     * string if there is no advice.
     */
    public static String computing(@Nullable String called) {
        if (called != null && called.endsWith(".<init>") && isThrowable(called)) {
            return ": " + EXCEPTION;
        }
        String telling = find(TELLING, called);
        return telling.isEmpty() ? find(COMPUTING, called) : telling;
    }

    /** Returns whether the advice for the given method is the same for all of its callers. */
    static boolean isTelling(String called) {
        return !find(TELLING, called).isEmpty();
    }

    /**
     * Returns the advice for code that waits in the given method, preceded by a separator, or an empty string if there
     * is none.
     */
    public static String waiting(@Nullable String called) {
        if (called != null && LIMITERS.matcher(called).find()) {
            return ": " + RATE;
        }
        return find(WAITING, called);
    }

    /**
     * Returns the advice for code that accesses a file, preceded by a separator, or an empty string if there is none.
     *
     * @param place the application code and the method that it calls
     */
    public static String file(String place) {
        if (FORCES.matcher(place).find()) {
            return ": write the file to disk (force) once for several calls, or outside of calls";
        }
        if (!UNBUFFERED.matcher(place).find()) {
            return READS.matcher(place).find() ? ": " + CONTENT : "";
        }
        return ": read and write blocks through a buffer. Each of these calls accesses the file, and also the disk if"
                + " the file was opened with the mode rwd or rws";
    }

    /**
     * Returns the advice to replace a JDK object by an alternative, if threads wait for the object's lock; an empty
     * string if no alternative is known.
     */
    public static String lock(String lock) {
        if (SYNCHRONIZED.matcher(lock).find()) {
            return "use a concurrent collection instead of this synchronized one";
        }
        if (BUFFERS.matcher(lock).find()) {
            return "use a StringBuilder for each call instead of this shared StringBuffer";
        }
        if (GENERATORS.matcher(lock).find()) {
            return "use ThreadLocalRandom if no secret is needed, or a SecureRandom for each thread, instead of a"
                    + " shared one";
        }
        return FORMATS.matcher(lock).find()
                ? "use a DateTimeFormatter, or a format for each thread, instead of a shared one"
                : "";
    }

    /** Returns whether the given method waits until another thread gives a signal. */
    public static boolean isSignal(@Nullable String called) {
        return called != null && SIGNALS.matcher(called).matches();
    }

    /**
     * Returns the advice for code that waits for another thread in the given method; an empty string if there is none.
     */
    public static String result(@Nullable String called) {
        if (called == null) {
            return "";
        }
        if (LibraryWaits.takesFromQueue(called)) {
            return "find out why the queue stays empty: if it is a pool, give each object back in a finally"
                    + " block, also if code fails, and use it for less time; otherwise use more threads to fill the"
                    + " queue";
        }
        if (isSignal(called)) {
            return "give this signal in a finally block, so that a failure does not skip it"
                    + (MONITORS.matcher(called).find()
                            ? ", wake all threads that wait (notifyAll, signalAll instead of notify, signal)"
                            : "")
                    + ", and wait for it with a timeout: the signal is lost or late, because no thread was found that"
                    + " works for it most of the time";
        }
        if (LibraryWork.FILLS.matcher(called).find()) {
            return "this queue is full: find out whether the thread that takes its items still runs (it ends if an"
                    + " exception leaves its loop) and what it waits for; if it is only slower than the calls, make it"
                    + " faster, or use more threads; put items with a time limit, or drop them, instead of waiting";
        }
        return called.startsWith("Mono.")
                        || called.startsWith("Flux.")
                        || called.startsWith("BlockingMono")
                        || called.contains(".block")
                ? "find out why the server of this reactive client answers slowly, or set a timeout"
                : "";
    }

    private static boolean isThrowable(String called) {
        String type = called.substring(0, called.length() - ".<init>".length());
        return type.endsWith("Exception") || type.endsWith("Error");
    }

    private static String find(List<Hint> hints, @Nullable String called) {
        for (Hint hint : hints) {
            if (called != null && hint.fits(called)) {
                return ": " + hint.change;
            }
        }
        return "";
    }
}
