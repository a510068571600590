//! The cues: phrases in English, Hindi, Hindi in Latin letters, and German. Neither complete nor weighted.
//!
//! `^` before a phrase: only where it is an imperative. `*` behind a word: any ending. `:` behind a phrase: only
//! where a clause ends with it. Letters are compared as they are read: without case, marks and look-alikes.

/// The meaning of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cue {
    /// Gives the reader a role, or announces instructions: enough by itself.
    Role,
    /// Asks whether the reader is a model: enough by itself.
    IfModel,
    Drop,
    /// What rules are to be dropped: earlier ones, or the model's own.
    Whose,
    Rules,
    Show,
    /// What a model must not show.
    Secrets,
    /// To say something, or do it on another's behalf.
    Say,
    /// The user of a model, in the third person.
    User,
    /// Before the name of a model that is addressed.
    Greeting,
    Model,
    /// What an addressed model does.
    Reads,
    Call,
    Tool,
    Trade,
    /// All one has, and at once.
    Pressure,
    Join,
    /// The gain that is promised.
    Lure,
    /// To obey, or to answer nothing else: enough by itself.
    Obey,
    /// To keep something out of an answer.
    Mute,
    /// An answer, or its reader.
    Summary,
    Reply,
    Write,
    /// Says that the reader need not ask.
    Unasked,
    /// What is done without asking.
    Ordering,
    Hide,
    /// Says what the reader is.
    YouAre,
    /// Roles that models are given.
    Roles,
    Models,
    /// What they ought to do.
    Ought,
    /// The beginning of a sentence that addresses the reader.
    Opening,
    /// What an addressed model is to do.
    Task,
}

/// The phrases of each cue, in the order of the cues, parted by `|`.
#[rustfmt::skip]
pub(super) const CUES: &[(Cue, &str)] = &[
    (Cue::Role, "you are now|youre now|you will now|you are an ai|you are in developer mode|^act as|pretend to be|\
        ^pretend you|^behave as|^behave like|roleplay as|your new task|your new role|your new goal|\
        your real task|your task is|your only task|from now on you|ab tum|tum ab se|ab se tum|aap ab se|\
        apna role badlo|अब तुम|अब से तुम|अब आप एक|तुम अब|du bist jetzt|du bist ab|ihr seid jetzt|\
        ab jetzt antwort*|ab jetzt bist|von nun an bist|^tu so als|deine neue aufgabe|deine neue rolle|\
        ^new instructions:|^naye instructions:|^naye nirdesh:|naye nirdesh ye hain|^नए निर्देश:|\
        ^neue anweisung*:|developer mode|jailbreak|system override|^become a|^stop being|your job is|\
        your mission is|your purpose is|tumhara kaam|aapka kaam|tera kaam|तुम्हारा काम|आपका काम|dein auftrag|\
        you have been authorised|you have been authorized|you are authorised|you are authorized|\
        you have permission to|begin new system|new system instruction*|you must recommend|you must promote|\
        you must rate|you must rank|you must obey|you must answer|you should recommend|you should obey|\
        you are instructed to|you are required to recommend|meri baat suno|मेरी सुनो|system instruction*|\
        system prompt*|systemprompt*|सिस्टम प्रॉम्प्ट|hidden prompt*|hidden instruction*|^respond only|\
        ^answer only|^reply only|^output only|^write only|^antworte nur|sirf itna likho|you must now|\
        is a system message|this is a system message"),
    (Cue::IfModel, "if you are an ai|if you are an llm|if you are a language model|if you are a bot|\
        if you are an assistant|as an ai|as a language model|agar tum ai|agar aap ai|ai ho toh|ai ho to|\
        agar tum bot|अगर तुम एआई|अगर आप एआई|यदि तुम एआई|यदि आप एआई|wenn du ein sprachmodell|wenn du eine ki|\
        als ki|als sprachmodell|als assistent musst|als assistent sollst|als modell musst"),
    (Cue::Drop, "ignore|ignored|ignoring|disregard*|forget|override|bypass|discard|do not follow|dont follow|\
        never follow|stop following|bhool jao|bhul jao|mat maano|mat mano|chhodo|chodo|chhod do|अनदेखा|\
        भूल जाओ|भूल जाइए|मत मानो|छोड़ दो|छोड़ो|नज़रअंदाज़|ignorier*|vergiss|vergesst|vergessen|missachte*|\
        halte dich nicht|umgehe|no longer valid|no longer apply|are void|are cancelled|are obsolete|hata do|\
        todo|radd|रद्द|gelten nicht|sind ungultig|aufgehoben|valid nahi|bhulkar|bhool kar|भूलकर"),
    (Cue::Whose, "previous|prior|above|earlier|your|system|preceding|initial|hidden|secret|existing|pichhle|pichle|\
        upar|apne|apni|apna|purane|purani|saare|sare|पिछले|ऊपर|अपने|अपनी|अपना|पुराने|पुरानी|छिपे|सारे|\
        vorherig*|obig*|bisherig*|deine|deiner|deinen|geheim*|die systemnachricht|given to you|\
        you were given|your developers|your creators|pehle|pehle wale|tumko bola|पहले|fruher*|the system|\
        vorher|zuvor|tumhare|aapke|तुम्हारे|आपके|your operator|your owner|सिस्टम के|system ke|system ne"),
    (Cue::Rules, "instruction*|prompt*|guardrail*|guideline*|rules|directive*|restriction*|system message|safety|\
        polic*|nirdesh|hidayat|baatein|baaten|niyam|निर्देश*|नियम*|बातें|anweisung*|regeln|vorgaben|\
        richtlinien|systemnachricht|everything above|everything before|everything you were told|\
        guidance given|warnings from your|training|developers|sab|सब|told you|gesagt wurde|bola gaya|\
        your operator said|your owner said|system ne bola|tumhe system"),
    (Cue::Show, "^reveal*|^print|^show|^output|^leak|^repeat|^display|^disclose|^share|^expose|^quote|^send|dikhao|\
        dikha do|likho|likh do|bata do|batao|दिखाओ|दिखा दो|लिखो|लिख दो|बता दो|बताओ|^zeig*|^gib|verrate|\
        ^nenne|^schreibe|^dump|^list"),
    (Cue::Secrets, "system prompt*|systemprompt*|hidden prompt*|your prompt*|your instructions|hidden instructions|\
        initial instructions|api key*|your password*|credentials|your configuration|text above|your tools|\
        apna prompt|chhupe nirdesh|api key|password bata|सिस्टम प्रॉम्प्ट|छिपे हुए निर्देश|एपीआई कुंजी|\
        geheim* anweisung*|deine anweisung*|api schlussel*|context window|your context|your training data|\
        your memory"),
    (Cue::Say, "^tell|^inform|^advise|^convince|^persuade|^instruct|^assure|^urge|^remind|^recommend|^warn|^notify|\
        ^say to|^hide from|bolo|batao|bata do|kaho|keh do|likho|kharid do|kharido|bech do|बताओ|बता दो|से कहो|\
        को कहो|कहो|कह दो|बताना|खरीदो|बेचो|^sag|^sage|^teile|^informiere|überzeuge|^rate|empfiehl|\
        verschweige*|^kaufe|^verkaufe|versichere|mat batana|mat batao|मत बताना|मत बताओ|erzahl*|^never tell|\
        ^do not tell|^dont tell|^add|^put|^lie to|^mislead|antworte"),
    (Cue::User, "the user|your user|your users|the human|your human|your owner|your operator|the reader|your client|\
        the customer|the user's account|user ko|user se|user ke|apne user|उपयोगकर्ता को|उपयोगकर्ता से|\
        उपयोगकर्ता के|यूज़र को|यूज़र से|अपने यूज़र|dem nutzer|den nutzer|deinem nutzer|deinen nutzer|\
        dem benutzer|deinem benutzer|den benutzer|deinen benutzer|den leser|dem leser|whoever asked you|\
        anyone who asks|the users account|the users watchlist|the users portfolio|user ka|dem anwender|\
        deinem anwender|ihrem nutzer"),
    (Cue::Greeting, "dear|hey|attention|note to|message to|memo to|hint to|any|every|all|for|jo bhi|priya|प्रिय|जो भी|\
        liebe|hallo|jedes|jede|hinweis an|an alle|achtung"),
    (Cue::Model, "ai|ais|llm|llms|language model*|chatbot*|bot|bots|assistant|gpt|chatgpt|claude|gemini|copilot|\
        ai agent*|ai assistant*|एआई|भाषा मॉडल|चैटबॉट|सहायक|ki|sprachmodell*|ki-agent*|ki agent*|assistent"),
    (Cue::Reads, "reading this|reads this|summarising this|summarizing this|processing this|^summarise|^summarize|\
        padh raha|padh rahe|ko hidayat|ke liye hidayat|bullish batao|पढ़ रहा|हिदायत|बताओ|das dies liest|\
        die dies liest|fasse|stuft|stufe"),
    (Cue::Call, "^call|^invoke|^execute|^run|^trigger|^skip|chalao|call karo|call kar|चलाओ|^fuhre|^rufe|^starte"),
    (Cue::Tool, "tool|function|command|curl|shell|टूल|befehl|werkzeug|add_to_watchlist|check_forbidden"),
    (Cue::Trade, "^buy|^sell|^invest|^transfer|^send|^mortgage|^take a loan|^borrow|kharido|kharid lo|khareed lo|\
        khareedo|bech do|becho|laga do|bhej do|bhejo|खरीदो|खरीद लो|बेच दो|बेचो|लगा दो|भेज दो|भेजो|^kauf|\
        ^kaufe|^kauft|^verkauf|^verkaufe|^verkauft|nimm einen kredit|uberweis*|^put|^dump|^load up|daal do|\
        डाल दो|steckt|steck|^go all in|^empty|lagao|लगाओ"),
    (Cue::Pressure, "immediately|right now|at once|right away|without delay|all your|all their|life savings|\
        entire savings|everything you own|everything you have|all in|at any price|before it is too late|\
        before its too late|guaranteed|without thinking|whole balance|their holdings immediately|turant|\
        abhi ke abhi|saari savings|sari savings|sab kuch|ghar girvi|pakka hai|pura balance|तुरंत|सारी बचत|\
        सब कुछ|घर गिरवी|पक्का|पूरा पैसा|पूरा बैलेंस|sofort|gesamten ersparnissen|alles was du hast|\
        um jeden preis|ganze guthaben|garantiert*|your whole portfolio|your entire|whole portfolio|\
        every rupee|sell everything|all of your|poora paisa|pura paisa|sara paisa|सारा पैसा|ganzes geld|\
        gesamtes geld|all your money|everything and|^dump everything|sab shares|saare shares|सारे शेयर|\
        sofort alles"),
    (Cue::Join, "^join our|^join my|join karo|dm me|^message me|^click this|^click the link|^click here|^click on|\
        click karo|message karo|^contact me|जुड़ो|जुड़ें|क्लिक करो|tretet|tritt|klick|klickt|schreib mir|\
        mein aa jao|में आ जाओ"),
    (Cue::Lure, "telegram|whatsapp|link|link pe|guaranteed|sure shot|password|tips|bonus|टेलीग्राम|व्हाट्सएप|लिंक|\
        पासवर्ड|टिप्स|gruppe|passwort|telegram group|sure shot calls"),
    (Cue::Obey, "meri har baat|meri baat maano|meri baat manoge|jo main kahun wahi|mere hisaab se jawab|मेरी हर बात|\
        मेरी बात मानो*|gehorch* nur mir|obey me|follow mine instead|every question with|only with|\
        answer only"),
    (Cue::Mute, "do not mention|dont mention|never mention|always state|always say|ka zikr mat|ka naam mat|\
        का ज़िक्र मत|का नाम मत|मत बताना|erwahne die|erwahne keine|nicht erwahnen"),
    (Cue::Summary, "summary|summarising|summarizing|assistant|ai|user|instructions|jawab|nirdesh|instruction*|एआई|\
        निर्देश|उपयोगकर्ता|anweisung*|zusammenfassung|you summarise|you summarize|your summary|your answer|\
        your reply|reader|readers|the user|dem nutzer|user ko|उपयोगकर्ता को"),
    (Cue::Reply, "your answer|your reply|your response|your summary|your output|your report|your rating|the summary|\
        jawab mein|apne jawab|har jawab|summary mein|जवाब में|सारांश में|deiner antwort|deine antwort|\
        deiner zusammenfassung|eurer antwort"),
    (Cue::Write, "must|^write|^say|^state|^include|^mention|^put|^end|^begin|^start|has to|have to|^append|^add|should|\
        likho|likhna|bolo|लिखो|लिखना|schreib*|erwahne|muss|beende|number one"),
    (Cue::Unasked, "without confirmation|without asking|without approval|no confirmation needed|bina puche|बिना पूछे|\
        ohne ruckfrage|ohne bestatigung"),
    (Cue::Ordering, "order|orders|place|transfer|buy|sell|trade*|kharido|खरीदो|kaufe"),
    (Cue::Hide, "^never tell|^do not tell|^dont tell|^hide|^conceal|^leave out|^omit|chhupao|छुपाओ|verschweig*|\
        ^suppress|^do not reveal|^never reveal|^dont reveal|^do not show"),
    (Cue::YouAre, "you are a|you are an|you are the|tum ek|aap ek|तुम एक|आप एक|du bist ein|du bist eine"),
    (Cue::Roles, "bot|influencer|broker|advisor|adviser|trader|assistant|promoter|salesman|dalal|दलाल|बॉट|berater|\
        handler|makler|werber"),
    (Cue::Models, "language model*|llm|llms|ai models|ai assistants|ai agents|chatbots|assistants|the assistant|the ai|\
        भाषा मॉडल|एआई मॉडल|sprachmodell*|assistenten"),
    (Cue::Ought, "must treat|should treat|must recommend|should recommend|must say|must report|must rate|must never|\
        must always|must not|should never|should always|must ignore|should ignore|mussen|sollen|sollten|\
        must skip|should skip|must rank|must list|must mark|must add|must call|should rank"),
    (Cue::Opening, "to|to the|to all|to any|an die|an den|hello|hi|dear|hey|bhai|oye|attention|note to|message to|liebe|\
        lieber|hallo|priya|प्रिय|ok"),
    (Cue::Task, "^rank|^rate|^mark|^add|^report|^write|^put|^list|^summarise|^summarize|^please|^do|^dont|^recommend|\
        ^state|^place|^call|^buy|^sell|^ignore|^tell|^stop|^answer|^reply|^give|^treat|^use|^never|^always|\
        ^say|^you|^your|^execute|^run|^delete|^disregard|^forget|^approve|^upgrade|^print|^output|^transfer|\
        ^send|^remember|^set|bewerte|empfiehl|stuft|stufe|fasse|kaufe|nenne|schreibe|sag|karo|do|dena|batao|\
        likho|करो|दो|बताओ|लिखो|मत"),
];
