package garden.run;

/** Regular expressions for the words that a correct diagnosis can use for each kind of cause. */
public final class Kind {

    public static final String CODE = "comput|\\bcode\\b|cpu|processor|busy|hot (method|code)|loop|runs? in";
    public static final String LOCK = "lock|monitor|contention|synchroni|semaphore|permit";
    public static final String EXECUTOR = "executor|result|task|pool|queue|future|caller.runs";
    public static final String COLLECTOR = "collect|garbage|heap|allocat|memory";
    public static final String NATIVE = "direct|native|memory|collect|failure|fails|exception|error";
    public static final String PROCESSORS = "processor|cpu|neighbou?r|starv|run.?queue|quota|throttl|machine";
    public static final String FILE = "file|disk|fsync|force|write";
    public static final String LOG = "log|appender|sink|stdout|console|file|write";
    public static final String RESOLVER = "resolv|dns|lookup|name|http|peer|sleep|connect";
    public static final String REDIS = "redis|command|key";
    public static final String NETWORK = "network|link|latency|redis|database|statement|sql|peer|host|http|round trip";
    public static final String MANY = "many|round.?trips?|chatty|n ?\\+ ?1|serial|number of";
    public static final String STATEMENT = "statement|sql|query|database";
    public static final String ROW = "statement|sql|row|lock|transaction|update|database|failure|exception";
    public static final String LEAK = "not given back|leak|not closed|never closed|lost|not returned";
    public static final String HELD = "held|holds|holder|keeps|kept|others|outside";
    public static final String CONNECT = "connect|opening|open|creat|peer|unreachable";
    public static final String TOO_SMALL = "too small|too few|limit|small|per.?host|max";
    public static final String HTTP = "http|peer|host|downstream|remote|exchange";
    public static final String PEER = "peer|provider|downstream|reference|remote|service|failure";
    public static final String HUNG = "hung|hang|block|wait|stuck|sleep|worker|result|latch|park|never";
    public static final String CALLER = "caller|burst|rate|traffic|load|worker|processor|arriv|request";
    public static final String FAILURE = "fail|exception|error|throw";

    private Kind() {}
}
